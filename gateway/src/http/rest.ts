import { AppError } from "@brand-records/errors";
import { RESOURCE_NAMES } from "@brand-records/resources";
import type { Request, Response } from "express";
import { requirePermission, type Principal } from "../auth/principal.ts";
import { OPERATIONS } from "../operations/index.ts";
import type { Operation } from "../operations/operation.ts";
import { invalidParameters, quoted } from "../operations/page-arguments.ts";
import type { Services } from "../services.ts";
import { ignoreBody, readJsonBody } from "./body.ts";
import { contextOf } from "./request-context.ts";
import { requireMethod, send } from "./responses.ts";

const OPERATION_BY_PATH: ReadonlyMap<string, Operation> = new Map(OPERATIONS.map((operation) => [operation.path, operation]));

/** @param path as sent: not decoded, case-sensitive, no trailing slash */
export function operationAt(path: string): Operation | undefined {
  return OPERATION_BY_PATH.get(path);
}

/** Serves an operation for an admitted caller. Checks the route, then the method, the permission and the input. */
export async function serveRest(
  services: Services,
  principal: Principal,
  operation: Operation | undefined,
  request: Request,
  response: Response,
): Promise<void> {
  if (operation === undefined) throw nothingAt(request.path);
  requireMethod(request, response, operation.method === "GET" ? "GET, HEAD" : operation.method);
  if (operation.permission !== undefined) requirePermission(principal, operation.permission);
  const input = operation.input.parse(await readInput(operation.input.from, request, response), "rest");
  const { status, headers = {}, body } = await operation.run(services, principal, input, contextOf(response));
  response.setHeaders(new Map(Object.entries({ "Cache-Control": "private, no-store", ...headers })));
  send(response, status, JSON.stringify(body));
}

/** @param path below /api */
function nothingAt(path: string): AppError {
  return /^\/v1\/[^/]+$/.test(path)
    ? new AppError("unknown_resource", `There is no such resource. The resources are ${RESOURCE_NAMES.join(", ")}.`)
    : new AppError("not_found", "Nothing exists at this path. The API is described at /openapi/service.yaml.");
}

async function readInput(from: Operation["input"]["from"], request: Request, response: Response): Promise<unknown> {
  const start = request.url.indexOf("?");
  const query = start < 0 ? "" : request.url.slice(start + 1);
  if (from === "query") {
    await ignoreBody(request, response);
    return readQuery(query);
  }
  if (query !== "") {
    throw new AppError("invalid_parameter", "This path takes no query parameters: the input is the body, and the key selects the brand.");
  }
  return readJsonBody(request, response);
}

/**
 * @param query without the question mark
 * @throws AppError `invalid_parameter` if a name is given more than once
 */
export function readQuery(query: string): Record<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) throw invalidParameters([{ field: name, message: `${quoted(name)} is given more than once. Send it once.` }]);
    // A plus sign in a query means a space. Before the offset of a time it can only have been a plus; an order number may have a space there.
    given.set(name, name === "external_id" ? value : value.replace(/(?<=:\d\d(?:\.\d+)?) (?=\d\d:?\d\d$)/, "+"));
  }
  return Object.fromEntries(given);
}
