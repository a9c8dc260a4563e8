import { AppError, ERROR_KINDS } from "@brand-records/errors";
import { ATTRIBUTES, startSpan } from "@brand-records/telemetry";
import type { Request, Response } from "express";
import type { Principal } from "../../auth/principal.ts";
import type { UsageRecorder } from "../../usage/usage-recorder.ts";
import { readJsonBody } from "../body.ts";
import { contextOf, type ErrorForm, type RequestContext } from "../request-context.ts";
import { requireMethod, send } from "../responses.ts";
import { clientNameOf } from "./client-name.ts";
import { type Caller, type Generation, methodOf } from "./generation.ts";
import { codeOf, failureBody, messageFrom, type RpcId, type RpcOneWay, type RpcRequest, successBody } from "./json-rpc.ts";
import { legacy } from "./legacy.ts";
import { isStateless, stateless } from "./stateless.ts";
import { TOOLBOX } from "./toolbox.ts";

/** What the endpoint serves from, the same for every caller. */
export interface ServedToAssistants extends Pick<Caller, "services" | "publicUrl"> {
  readonly usage: Pick<UsageRecorder, "countMessage">;
}

/**
 * Serves one message of the Model Context Protocol for an admitted caller: JSON in, JSON out. No streams, no
 * sessions; `Accept` and `Mcp-Session-Id` are ignored.
 */
export async function serveMcp(
  { usage, ...served }: ServedToAssistants,
  principal: Principal,
  request: Request,
  response: Response,
): Promise<void> {
  const context = contextOf(response);
  let message: RpcRequest | RpcOneWay | undefined;
  try {
    requireMethod(request, response, "POST");
    message = messageFrom(await readJsonBody(request, response));
  } finally {
    // What is refused unread counts too: it takes of the brand's limit, such as the GET with which many clients ask for a stream.
    const callsTool = message?.kind === "request" && message.method === "tools/call";
    usage.countMessage(principal, { declared: clientNameOf(message, request.headers), callsTool });
  }
  if (message.kind !== "request") {
    context.rpc = { method: message.kind };
    response.status(202).set("Content-Length", "0").end();
    return;
  }
  const { id, method, params } = message;
  const generation = isStateless(message, request.headers) ? stateless : legacy;
  context.rpc = { method: METHOD_NAMES.has(method) ? method : "other", generation: generation.name };
  context.errorForm = rpcErrorForm(id, generation);
  const result = await inMessageSpan(context, async () => {
    generation.check(message, request.headers);
    return methodOf(generation, method)(params, { ...served, principal, context, toolbox: TOOLBOX });
  });
  response.setHeader("Cache-Control", "private, no-store");
  send(response, 200, successBody(id, result));
}

const METHOD_NAMES = new Set([...legacy.methods.keys(), ...stateless.methods.keys()]);

/** Errors of every check on this path are JSON-RPC errors. */
export function rpcErrorForm(id: RpcId | null, generation?: Generation): ErrorForm {
  return (error, requestId, docs) => ({
    status: generation?.statuses[codeOf(error)] ?? ERROR_KINDS[error.kind].http,
    body: failureBody(id, error, requestId, docs),
  });
}

/**
 * Refuses requests of web pages of other origins, to which a browser can be tricked by DNS rebinding. Programs send no
 * Origin.
 *
 * @param allowed origins such as `https://app.example`; `http://localhost:*` allows every port
 * @throws AppError `origin_not_allowed`
 */
export function requireAllowedOrigin(allowed: readonly string[], origin: string | undefined): void {
  if (origin === undefined || allowed.includes(origin)) return;
  const anyPort = `${origin.replace(/:\d{1,5}$/, "")}:*`;
  if (allowed.includes(anyPort)) return;
  throw new AppError(
    "origin_not_allowed",
    "Web pages of this origin may not call this endpoint. Call from a server, without an Origin header.",
  );
}

/**
 * Runs the work of a message in a span of its own, because the request's span only knows the path. Of what the client sent it holds the
 * names of methods and tools that exist.
 */
async function inMessageSpan<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
  const { rpc, traceparent } = context;
  const span = startSpan(rpc?.method ?? "other", traceparent, {
    kind: "server",
    attributes: { [ATTRIBUTES.mcpMethod]: rpc?.method ?? "other" },
  });
  if (span === undefined) return work();
  context.traceparent = span.traceparent;
  try {
    return await work();
  } catch (error) {
    span.fail(AppError.from(error).kind);
    throw error;
  } finally {
    const tool = rpc?.tool;
    if (tool !== undefined) {
      span.rename(`tools/call ${tool}`);
      span.set({ [ATTRIBUTES.genAiOperation]: "execute_tool", [ATTRIBUTES.genAiTool]: tool });
    }
    if (context.errorKind !== undefined) span.fail("tool_error");
    span.end();
    context.traceparent = traceparent;
  }
}
