import { ERROR_KINDS } from "@brand-records/errors";
import type { Request, Response } from "express";
import type { Principal } from "../../auth/principal.ts";
import type { Services } from "../../services.ts";
import { readJsonBody } from "../body.ts";
import { contextOf, type ErrorForm } from "../request-context.ts";
import { requireMethod } from "../rest.ts";
import { sendJson } from "../send-json.ts";
import type { Generation } from "./generation.ts";
import { codeOf, failureBody, parseMessage, successBody, type RpcId } from "./json-rpc.ts";
import { legacy } from "./legacy.ts";
import { isStateless, stateless } from "./stateless.ts";

/**
 * Serves one message of the Model Context Protocol for a caller who has been admitted: JSON in, JSON out. No streams, no
 * sessions; `Accept` and `Mcp-Session-Id` do not matter.
 */
export async function serveMcp(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  const context = contextOf(response);
  requireMethod(request, response, "POST");
  const bodyBegan = Date.now();
  const message = parseMessage(await readJsonBody(request));
  // How long its client took to send a message is not taken from the time to answer it.
  context.deadline += Date.now() - bodyBegan;
  if (message.kind !== "request") {
    context.rpc = { method: message.kind };
    response.status(202).set("Content-Length", "0").end();
    return;
  }
  const generation = isStateless(message, request.headers) ? stateless : legacy;
  const method = KNOWN_METHODS.has(message.method) ? message.method : "other";
  context.rpc = { method, generation: generation.name };
  context.errorForm = rpcErrorForm(message.id, generation);
  const result = await generation.answer(message, request.headers, { services, principal, context });
  response.setHeader("Cache-Control", "private, no-store");
  sendJson(response, 200, successBody(message.id, result));
}

const KNOWN_METHODS = new Set(["initialize", "ping", "server/discover", "tools/list", "tools/call"]);

/** Errors on this path are JSON-RPC's, from the first check to the last. */
export function rpcErrorForm(id: RpcId | null, generation?: Generation): ErrorForm {
  return (error, requestId) => ({
    status: generation?.statuses[codeOf(error)] ?? ERROR_KINDS[error.kind].http,
    body: failureBody(id, error, requestId),
  });
}
