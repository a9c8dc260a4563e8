import { AppError } from "@brand-records/errors";
import { isResourceName } from "@brand-records/resources";
import type { Request, Response } from "express";
import type { Principal } from "../auth/principal.ts";
import { LIST_OPERATIONS } from "../operations/index.ts";
import type { ListOperation } from "../operations/list.ts";
import type { Services } from "../services.ts";
import { ignoreBody } from "./body.ts";
import { requireMethod } from "./method.ts";
import { pageArgumentsFrom } from "./page-arguments.ts";
import { contextOf } from "./request-context.ts";
import { sendJson } from "./send-json.ts";

const READS = "GET, HEAD";

/** Serves what lies under /api for a caller who has been admitted. Route, then method, then body. */
export async function serveApi(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  const operation = operationAt(request.path);
  const context = contextOf(response);
  requireMethod(request, response, READS);
  await ignoreBody(request, response);
  const page = pageArgumentsFrom(queryOf(request));
  const answer = await operation.list(services, principal.brand_id, page, context);
  response.setHeader("Cache-Control", "private, no-store");
  sendJson(response, 200, JSON.stringify(answer));
}

const LIST_PATH = /^\/v1\/([^/]+)$/;

/** @param path below /api, as sent: not decoded, case-sensitive, no trailing slash */
function operationAt(path: string): ListOperation {
  const [, name] = LIST_PATH.exec(path) ?? [];
  if (name === undefined) throw new AppError("not_found", "There is nothing at this path. The API is described at /openapi/service.yaml.");
  if (isResourceName(name)) return LIST_OPERATIONS[name];
  throw new AppError("unknown_resource", `There is no such resource. The resources are ${Object.keys(LIST_OPERATIONS).join(", ")}.`);
}

/** The path's name in logs and metrics: one of a few, because callers make paths up. */
export function apiRouteName(path: string): string {
  const [, name] = LIST_PATH.exec(path) ?? [];
  return name !== undefined && isResourceName(name) ? `/api/v1/${name}` : "/api/*";
}

function queryOf(request: Request): string {
  const start = request.url.indexOf("?");
  return start < 0 ? "" : request.url.slice(start + 1);
}
