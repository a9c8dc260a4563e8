import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import express, { Router, type Request, type RequestHandler, type Response } from "express";
import type { z } from "zod";
import { runAudited } from "../audit.ts";
import { HANDLERS } from "../operations/index.ts";
import type { Handler, InBrand } from "../operations/operation.ts";
import { readSession, type Person } from "../sessions.ts";
import type { ProviderSignOut } from "../sign-in/provider-sign-out.ts";
import type { SignInProvider } from "../sign-in/provider.ts";
import type { AppDependencies } from "./app.ts";
import { CallLimit } from "./call-limits.ts";
import { contextOf } from "./request-context.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { sessionCookie } from "./session-cookie.ts";

const BODY_BYTES_MAX = 768 * 1024;

export interface CallDependencies extends AppDependencies {
  readonly provider: SignInProvider | undefined;
  readonly providerSignOut: ProviderSignOut | undefined;
  readonly signInsOfAddress: CallLimit;
}

/** Serves `POST /console/api/{operation}`. The order of the checks: origin, limits, session, body, brand and role, input. */
export function serveCalls(deps: CallDependencies): Router {
  const router = Router({ caseSensitive: true });
  const operation: RequestHandler = (request, response, next) => {
    const name = request.path.slice(1);
    if (!Object.hasOwn(OPERATIONS, name)) throw new AppError("not_found", "The console has no such operation. Reload the page.");
    contextOf(response).route = `/console/api/${name}`;
    response.setHeader("Cache-Control", "no-store");
    if (request.method !== "POST") {
      response.setHeader("Allow", "POST");
      throw new AppError("method_not_allowed", "Operations are called with POST.");
    }
    requireSameOrigin(request, new URL(deps.config.PUBLIC_URL).origin);
    next();
  };
  router.use(operation, admitCalls(deps), express.json({ limit: BODY_BYTES_MAX, strict: true, inflate: false }), serveCall(deps));
  return router;
}

/** Counts the call, then finds the person. Both before the body is read. */
function admitCalls({ config, services, signInsOfAddress }: CallDependencies): RequestHandler {
  const cookie = sessionCookie(config.PUBLIC_URL);
  const ofAddress = new CallLimit(config.CALLS_PER_ADDRESS);
  const ofSession = new CallLimit(config.CALLS_PER_SESSION);
  return async (request, response, next) => {
    const context = contextOf(response);
    const name = nameOf(request);
    if (OPERATIONS[name].needs === "anyone") {
      ofAddress.spend(context.address);
      if (name === "sign_in.peek" || name === "sign_in.redeem") signInsOfAddress.spend(context.address);
      return next();
    }
    ofAddress.requireRoom(context.address);
    try {
      const person = await readSession(services, cookie.read(request), context);
      ofSession.spend(person.sessionKey);
      response.locals["person"] = person;
    } catch (error) {
      // Only what a session does not vouch for: many people work behind one address.
      if (error instanceof AppError && error.kind === "invalid_session") ofAddress.spend(context.address);
      throw error;
    }
    next();
  };
}

function serveCall(deps: CallDependencies): RequestHandler {
  const { services, config, log, provider, providerSignOut } = deps;
  const cookie = sessionCookie(config.PUBLIC_URL);
  return async (request, response) => {
    const context = contextOf(response);
    const name = nameOf(request);
    // Complete as far as `needs` says, which is all that the handler's type lets it use.
    const caller: InBrand = {
      call: context,
      address: context.address,
      person: response.locals["person"] as Person,
      brand: brandOf(name, response, request.body),
      config,
      provider,
      sessionToken: cookie.read(request),
      startSession: (token) => cookie.set(response, token),
      endSession: () => cookie.clear(response),
      providerSignOutLocation: async (token) => (await providerSignOut?.locationFor(request, response, token, context)) ?? null,
    };
    const input = parseInput(OPERATIONS[name].input, request.body);
    const handler = HANDLERS[name] as unknown as Handler<OperationName>;
    const output = await runAudited({ services, log }, handler, caller, input as never);
    response.json(OPERATIONS[name].output.parse(output));
  };
}

const nameOf = (request: Request): OperationName => request.path.slice(1) as OperationName;

/**
 * Returns the caller's membership of the brand that the input names.
 *
 * @throws AppError `not_found` for a brand of others and an unknown one alike; `owner_required`
 */
function brandOf(name: OperationName, response: Response, body: unknown): Person["memberships"][number] {
  const { needs } = OPERATIONS[name];
  if (needs !== "member" && needs !== "owner") return undefined as never;
  const { memberships } = response.locals["person"] as Person;
  const brand = memberships.find(({ brand_id }) => brand_id === (body as { brand_id?: unknown } | undefined)?.brand_id);
  if (brand === undefined)
    throw new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id" });
  contextOf(response).brandId = brand.brand_id;
  if (needs === "owner" && brand.role !== "owner") {
    throw new AppError("owner_required", "Only owners of the brand can do this. Ask one of them.");
  }
  return brand;
}

/** @throws AppError `invalid_request` with every problem */
function parseInput(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => ({ field: path.join("."), message }));
  throw new AppError("invalid_request", details.map(({ field, message }) => `${field} ${message}`.trim()).join("; "), {
    field: details[0]?.field ?? "",
    details,
  });
}
