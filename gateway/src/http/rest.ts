import { AppError } from "@brand-records/errors";
import { isResourceName } from "@brand-records/resources";
import type { Request, Response } from "express";
import type { Principal } from "../auth/principal.ts";
import { LIST_OPERATIONS } from "../operations/index.ts";
import type { ListOperation } from "../operations/list.ts";
import type { Services } from "../services.ts";
import { pageArgumentsFrom } from "./page-arguments.ts";
import { contextOf } from "./request-context.ts";
import { sendJson } from "./send-json.ts";

const BODY_BYTES_MAX = 64 * 1024;
const READS = "GET, HEAD";

/** Serves what lies under /api for a caller who has been admitted. Route, then method, then body. */
export async function serveApi(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  const operation = routeOf(request.path);
  const context = contextOf(response);
  context.route = `/api/v1/${operation.resource}`;
  requireMethod(request, response, READS);
  refuseLargeBody(request);
  const page = pageArgumentsFrom(queryOf(request));
  const answer = await operation.list(services, principal.brand_id, page, context);
  response.setHeader("Cache-Control", "private, no-store");
  sendJson(response, 200, JSON.stringify(answer));
}

/** @param path below /api, as sent: not decoded, case-sensitive, no trailing slash */
function routeOf(path: string): ListOperation {
  const [, name] = /^\/v1\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) throw new AppError("not_found", "There is nothing at this path. The API is described at /openapi/service.yaml.");
  if (isResourceName(name)) return LIST_OPERATIONS[name];
  throw new AppError("unknown_resource", `There is no such resource. The resources are ${Object.keys(LIST_OPERATIONS).join(", ")}.`);
}

export function requireMethod(request: Request, response: Response, allowed: string): void {
  if (allowed.split(", ").includes(request.method)) return;
  response.setHeader("Allow", allowed);
  throw new AppError("method_not_allowed", `This path answers ${allowed} only.`);
}

/** Reading takes no body; a small one is ignored, as clients that always send one expect. */
function refuseLargeBody(request: Request): void {
  if (Number(request.headers["content-length"] ?? 0) <= BODY_BYTES_MAX) return;
  throw new AppError("payload_too_large", "The body is larger than 64 KiB. Reading takes no body at all.");
}

function queryOf(request: Request): string {
  const start = request.url.indexOf("?");
  return start < 0 ? "" : request.url.slice(start + 1);
}
