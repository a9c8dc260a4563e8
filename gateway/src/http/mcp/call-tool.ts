import { AppError, ERROR_KINDS } from "@brand-records/errors";
import { requireIntegratingBrand, requirePermission } from "../../auth/principal.ts";
import { errorBody } from "../errors.ts";
import type { Caller } from "./caller.ts";
import { invalidParams, isObject, type RpcParams } from "./json-rpc.ts";
import type { Tool, ToolArguments } from "./tool.ts";

/**
 * Calls a tool; answers the members of its result as JSON text, without the braces. What a model can mend or tell its
 * user is a result with `isError`; what failed on our side is thrown, and becomes an HTTP error that clients retry.
 *
 * @throws RpcError if there is no such tool or the call is none; AppError if it failed
 */
export async function callTool(params: RpcParams, caller: Caller): Promise<string> {
  const { name, arguments: given } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be the name of a tool.");
  const tool = caller.toolbox.named(name, caller.principal.permissions);
  if (caller.context.rpc !== undefined) caller.context.rpc.tool = tool.name;
  if (given != null && !isObject(given)) throw invalidParams("params.arguments must be an object.");
  try {
    return answered(await call(tool, argumentsOf(tool, given ?? {}), caller));
  } catch (thrown) {
    const error = AppError.from(thrown);
    if (ERROR_KINDS[error.kind].http >= 500) throw error;
    caller.context.errorKind = error.kind;
    return refused(errorBody(error, caller.context.requestId));
  }
}

async function call(tool: Tool, given: ToolArguments, { services, principal, context }: Caller): Promise<string> {
  requireIntegratingBrand(principal);
  if (tool.permission !== undefined) requirePermission(principal, tool.permission);
  return tool.call(services, principal.brand_id, given, context);
}

/** Clients and models send null or "" for an argument they leave out. Of one that there is not, they too are refused. */
function argumentsOf({ listing }: Tool, given: RpcParams): ToolArguments {
  const isLeftOut = (name: string, value: unknown): boolean =>
    (value === null || value === "") && Object.hasOwn(listing.inputSchema.properties, name);
  return new Map(Object.entries(given).filter(([name, value]) => !isLeftOut(name, value)));
}

/** The page is serialised once: the text is that JSON, escaped. */
function answered(json: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json},"isError":false`;
}

/** No structuredContent: some clients show it instead of the message. */
function refused(json: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(json)}}],"isError":true`;
}
