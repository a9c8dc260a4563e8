import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import { KeyedSemaphore } from "@brand-records/lifecycle";
import { Router, type Request, type RequestHandler, type Response } from "express";
import type { z } from "zod";
import { runAudited } from "../audit.ts";
import { HANDLERS } from "../operations/index.ts";
import type { Handler, InBrand } from "../operations/operation.ts";
import type { Person } from "../sessions.ts";
import type { ProviderSignOut } from "../sign-in/provider-sign-out.ts";
import type { SignInProvider } from "../sign-in/provider.ts";
import type { AppDependencies } from "./app.ts";
import { BODY_BYTES_MAX, mayExceed, parseJson, readBody } from "./body.ts";
import { CallLimit } from "./call-limits.ts";
import { contextOf } from "./request-context.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { requireToken, SessionAdmission } from "./session-admission.ts";
import { sessionCookie } from "./session-cookie.ts";

/** Bytes of a body that no session vouches for. Only the texts of a plan need more. */
const SMALL_BODY_BYTES_MAX = 16 * 1024;
/** Larger bodies that are read at a time: 48 MiB. */
const LARGE_BODIES = { perKey: () => 4, total: 64, waitingPerKey: 8, waitingTotal: 128 };

export interface CallDependencies extends Pick<AppDependencies, "config" | "services" | "log"> {
  readonly provider: SignInProvider | undefined;
  readonly providerSignOut: ProviderSignOut | undefined;
  readonly signInsOfAddress: CallLimit;
}

/**
 * Serves `POST /console/api/{operation}`. The order of the checks: origin, form of the session's token, body, session, brand and role,
 * input. The session is looked up after the body, which its sender may hold back: a removal acts at once.
 */
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
  router.use(operation, serveCall(deps));
  return router;
}

interface Admitted {
  /** Undefined for an operation that needs no session. */
  readonly person: Person | undefined;
  readonly body: Buffer;
}

/** Returns a function that reads a call's body and finds out who calls, each within bounds. */
function admitCalls({ config, services, signInsOfAddress }: CallDependencies): (request: Request, response: Response) => Promise<Admitted> {
  const cookie = sessionCookie(config.PUBLIC_URL);
  const callsWithoutSession = new CallLimit(config.CALLS_PER_ADDRESS);
  const sessions = new SessionAdmission(services, config);
  const largeBodies = new KeyedSemaphore(LARGE_BODIES);

  const read = async (request: Request, response: Response, bytesMax: number): Promise<Buffer> => {
    const context = contextOf(response);
    const began = Date.now();
    const body = await readBody(request, response, { bytesMax, timeoutMs: config.REQUEST_DEADLINE_MS });
    // The time that the body takes to arrive does not shorten the time to serve the call.
    context.deadline += Date.now() - began;
    return body;
  };

  return async (request, response) => {
    const context = contextOf(response);
    const name = nameOf(request);
    if (OPERATIONS[name].needs === "anyone") {
      callsWithoutSession.spend(context.network);
      if (name === "sign_in.peek" || name === "sign_in.redeem") signInsOfAddress.spend(context.network);
      return { person: undefined, body: await read(request, response, SMALL_BODY_BYTES_MAX) };
    }
    const token = requireToken(cookie.read(request));
    let body: Buffer;
    if (mayExceed(request, SMALL_BODY_BYTES_MAX)) {
      const { email } = await sessions.admit(token, context);
      body = await largeBodies.run(email, () => read(request, response, BODY_BYTES_MAX));
    } else {
      body = await read(request, response, SMALL_BODY_BYTES_MAX);
    }
    return { person: await sessions.admit(token, context), body };
  };
}

function serveCall(deps: CallDependencies): RequestHandler {
  const { services, config, log, provider, providerSignOut } = deps;
  const cookie = sessionCookie(config.PUBLIC_URL);
  const admit = admitCalls(deps);
  return async (request, response) => {
    const context = contextOf(response);
    const name = nameOf(request);
    const admitted = await admit(request, response);
    const person = admitted.person as Person;
    const body = parseJson(admitted.body);
    // Complete as far as `needs` says, which is all that the handler's type lets it use.
    const caller: InBrand = {
      call: context,
      address: context.address,
      person,
      brand: brandOf(name, person, response, body),
      config,
      provider,
      sessionToken: cookie.read(request),
      startSession: (token) => cookie.set(response, token),
      endSession: () => cookie.clear(response),
      providerSignOutLocation: async (token) => (await providerSignOut?.locationFor(request, response, token, context)) ?? null,
    };
    const input = parseInput(OPERATIONS[name].input, body);
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
function brandOf(name: OperationName, person: Person, response: Response, body: unknown): Person["memberships"][number] {
  const { needs } = OPERATIONS[name];
  if (needs !== "member" && needs !== "owner") return undefined as never;
  const named = (body as { brand_id?: unknown } | null)?.brand_id;
  const brand = person.memberships.find(({ brand_id }) => brand_id === named);
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
