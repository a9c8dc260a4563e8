import { ERROR_KINDS } from "@brand-records/errors";
import type { Request, Response } from "express";
import type { Principal } from "../../auth/principal.ts";
import type { Services } from "../../services.ts";
import { PLAN_BYTES_MAX, readJsonBody } from "../body.ts";
import { requireMethod } from "../method.ts";
import { contextOf, type ErrorForm } from "../request-context.ts";
import { sendJson } from "../send-json.ts";
import { methodOf, type Generation } from "./generation.ts";
import { codeOf, failureBody, messageFrom, successBody, type RpcId } from "./json-rpc.ts";
import { legacy } from "./legacy.ts";
import { isStateless, stateless } from "./stateless.ts";
import { TOOLBOX } from "./toolbox.ts";

/**
 * Serves one message of the Model Context Protocol for a caller who has been admitted: JSON in, JSON out. No streams, no
 * sessions; `Accept` and `Mcp-Session-Id` do not matter.
 */
export async function serveMcp(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  const context = contextOf(response);
  requireMethod(request, response, "POST");
  const message = messageFrom(await readJsonBody(request, response, PLAN_BYTES_MAX));
  if (message.kind !== "request") {
    context.rpc = { method: message.kind };
    response.status(202).set("Content-Length", "0").end();
    return;
  }
  const { id, method, params } = message;
  const generation = isStateless(message, request.headers) ? stateless : legacy;
  context.rpc = { method: METHOD_NAMES.has(method) ? method : "other", generation: generation.name };
  context.errorForm = rpcErrorForm(id, generation);
  generation.check(message, request.headers);
  const result = await methodOf(generation, method)(params, { services, principal, context, toolbox: TOOLBOX });
  response.setHeader("Cache-Control", "private, no-store");
  sendJson(response, 200, successBody(id, result));
}

const METHOD_NAMES = new Set([...legacy.methods.keys(), ...stateless.methods.keys()]);

/** Errors on this path are JSON-RPC's, from the first check to the last. */
export function rpcErrorForm(id: RpcId | null, generation?: Generation): ErrorForm {
  return (error, requestId) => ({
    status: generation?.statuses[codeOf(error)] ?? ERROR_KINDS[error.kind].http,
    body: failureBody(id, error, requestId),
  });
}
