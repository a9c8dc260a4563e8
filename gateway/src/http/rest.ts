import { AppError } from "@brand-records/errors";
import { isResourceName } from "@brand-records/resources";
import type { Request, Response } from "express";
import { requirePermission, type Principal } from "../auth/principal.ts";
import { LIST_OPERATIONS } from "../operations/index.ts";
import type { ListOperation } from "../operations/list.ts";
import { PREPARE_PLAN } from "../operations/prepare-plan.ts";
import type { Services } from "../services.ts";
import { ignoreBody, PLAN_BYTES_MAX, readJsonBody } from "./body.ts";
import { requireMethod } from "./method.ts";
import { pageArgumentsFrom } from "./page-arguments.ts";
import { contextOf } from "./request-context.ts";
import { sendJson } from "./send-json.ts";

const READS = "GET, HEAD";

/** Serves what lies under /api for a caller who has been admitted. Route, then method, then permission, then body. */
export async function serveApi(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  const name = nameIn(request.path);
  if (name === PLANS) await servePlan(services, principal, request, response);
  else await serveList(listNamed(name), services, principal, request, response);
}

async function serveList(
  operation: ListOperation,
  services: Services,
  principal: Principal,
  request: Request,
  response: Response,
): Promise<void> {
  requireMethod(request, response, READS);
  await ignoreBody(request, response);
  const page = pageArgumentsFrom(queryOf(request));
  const answer = await operation.list(services, principal.brand_id, page, contextOf(response));
  response.setHeader("Cache-Control", "private, no-store");
  sendJson(response, 200, JSON.stringify(answer));
}

/** 201 for a plan that was made, 200 for the one that a repeated request had made before. */
async function servePlan(services: Services, principal: Principal, request: Request, response: Response): Promise<void> {
  requireMethod(request, response, "POST");
  requirePermission(principal, PREPARE_PLAN.permission);
  if (queryOf(request) !== "") {
    throw new AppError("invalid_parameter", "This path takes no parameters: the plan is the body, and the key selects the brand.");
  }
  const given = await readJsonBody(request, response, PLAN_BYTES_MAX);
  const { plan, replayed } = await PREPARE_PLAN.prepare(services, principal.brand_id, given, contextOf(response));
  response.setHeader("Cache-Control", "private, no-store");
  if (replayed) response.setHeader("Idempotent-Replayed", "true");
  sendJson(response, replayed ? 200 : 201, JSON.stringify(plan));
}

const PLANS = "campaign-plans";
const PATH = /^\/v1\/([^/]+)$/;

/** @param path below /api, as sent: not decoded, case-sensitive, no trailing slash */
function nameIn(path: string): string {
  const [, name] = PATH.exec(path) ?? [];
  if (name !== undefined) return name;
  throw new AppError("not_found", "There is nothing at this path. The API is described at /openapi/service.yaml.");
}

function listNamed(name: string): ListOperation {
  if (isResourceName(name)) return LIST_OPERATIONS[name];
  throw new AppError("unknown_resource", `There is no such resource. The resources are ${Object.keys(LIST_OPERATIONS).join(", ")}.`);
}

/** The path's name in logs and metrics: one of a few, because callers make paths up. */
export function apiRouteName(path: string): string {
  const [, name] = PATH.exec(path) ?? [];
  return name !== undefined && (name === PLANS || isResourceName(name)) ? `/api/v1/${name}` : "/api/*";
}

function queryOf(request: Request): string {
  const start = request.url.indexOf("?");
  return start < 0 ? "" : request.url.slice(start + 1);
}
