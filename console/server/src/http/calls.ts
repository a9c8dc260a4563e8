import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { PERSON_FIELD, ROLE_HEADER, NO_SUCH_OPERATION } from "@brand-records/console-contract/protocol";
import { AppError } from "@brand-records/errors";
import { KeyedSemaphore } from "@brand-records/lifecycle";
import { isUnimplemented } from "@brand-records/rpc";
import { Router, type Request, type RequestHandler, type Response } from "express";
import { serve, usesLink } from "../operations/index.ts";
import type { Admitted, Person } from "../sessions.ts";
import type { Visitor } from "../operations/operation.ts";
import { actingIn } from "../services-of-1-0.ts";
import type { CallDependencies } from "./dependencies.ts";
import { BODY_BYTES_MAX, mayExceed, parseJson, readBody } from "./body.ts";
import { CallLimit } from "./call-limits.ts";
import { contextOf } from "./request-context.ts";
import { requireSameOrigin } from "./request-checks.ts";
import { requireToken, type SessionAdmission } from "./session-admission.ts";
import { visitorOf } from "./visitor.ts";

/** Bytes of a body that no session vouches for. Only the texts of a plan need more. */
const SMALL_BODY_BYTES_MAX = 16 * 1024;
/** Larger bodies that are read at a time: 48 MiB. */
const LARGE_BODIES = { perKey: () => 4, total: 64, waitingPerKey: 8, waitingTotal: 128 };

/**
 * Serves `POST /console/api/{operation}`. The order of the checks: origin, form of the session's token, body, session, person whom
 * the page shows, brand, input; the service checks the role. The session is looked up after the body, which its sender may hold back: a
 * removal acts at once.
 */
export function serveCalls(deps: CallDependencies): Router {
  const router = Router({ caseSensitive: true });
  const operation: RequestHandler = (request, response, next) => {
    const name = request.path.slice(1);
    if (!Object.hasOwn(OPERATIONS, name)) throw new AppError("not_found", NO_SUCH_OPERATION);
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

/** Reads the bodies of calls and finds out who calls, each within bounds. */
class Admission {
  readonly #deps: CallDependencies;
  readonly #callsWithoutSession: CallLimit;
  readonly #linkUses: CallLimit;
  readonly #sessions: SessionAdmission;
  readonly #largeBodies = new KeyedSemaphore(LARGE_BODIES);

  constructor(deps: CallDependencies) {
    this.#deps = deps;
    this.#callsWithoutSession = new CallLimit(deps.config.CALLS_PER_ADDRESS);
    this.#linkUses = new CallLimit(deps.config.SIGN_INS_PER_ADDRESS);
    this.#sessions = deps.sessions;
  }

  /** Returns the body of a call that needs no session. */
  async visitor(request: Request, response: Response, usesLink: boolean): Promise<unknown> {
    const { network } = contextOf(response);
    this.#callsWithoutSession.spend(network);
    if (usesLink) this.#linkUses.spend(network);
    return parseJson(await this.#read(request, response, SMALL_BODY_BYTES_MAX));
  }

  /** Returns the body, and the person of the session as accounts knows them once the body is there. */
  async person(request: Request, response: Response, visitor: Visitor): Promise<Admitted & { body: unknown }> {
    const token = requireToken(visitor.sessionToken);
    const bytes = mayExceed(request, SMALL_BODY_BYTES_MAX)
      ? await this.#readLarge(request, response, token, visitor)
      : await this.#read(request, response, SMALL_BODY_BYTES_MAX);
    const parsed = tryToParse(bytes);
    const admitted = await this.#sessions.admit(token, brandNamedIn(parsed.body), visitor);
    if (parsed.error !== undefined) throw parsed.error;
    return { ...admitted, body: parsed.body };
  }

  async #readLarge(request: Request, response: Response, token: string, visitor: Visitor): Promise<Buffer> {
    const { person } = await this.#sessions.admit(token, undefined, visitor);
    return this.#largeBodies.run(person.email, () => this.#read(request, response, BODY_BYTES_MAX));
  }

  async #read(request: Request, response: Response, bytesMax: number): Promise<Buffer> {
    const context = contextOf(response);
    const began = Date.now();
    const body = await readBody(request, response, { bytesMax, timeoutMs: this.#deps.config.REQUEST_DEADLINE_MS });
    // The time that the body takes to arrive does not shorten the time to serve the call.
    context.deadline += Date.now() - began;
    return body;
  }
}

function serveCall(deps: CallDependencies): RequestHandler {
  const admission = new Admission(deps);
  const outputOf = async (request: Request, response: Response): Promise<unknown> => {
    const name = request.path.slice(1) as OperationName;
    const { needs } = OPERATIONS[name];
    const visitor = visitorOf(deps, request, response);
    if (needs === "anyone") return serve(name, deps.services, visitor, await admission.visitor(request, response, usesLink(name)));
    const { body: sent, person, grants } = await admission.person(request, response, visitor);
    const body = requireShown(sent, person);
    const signedIn = { ...visitor, call: { ...visitor.call, grants }, person };
    if (needs === "session") return serve(name, deps.services, signedIn, body);
    const brand = membershipOf(person, body);
    contextOf(response).brandId = brand.brand_id;
    response.setHeader(ROLE_HEADER, brand.role);
    return serve(name, deps.services, actingIn({ ...signedIn, brand }), body);
  };
  return async (request, response) => {
    response.json(await outputOf(request, response).catch(refuseUnimplemented));
  };
}

/** Rethrows an error. That of a service of an earlier release, beside this console during an update, becomes one that pages recognise. */
function refuseUnimplemented(error: unknown): never {
  if (!isUnimplemented(error)) throw error;
  throw new AppError("unavailable", NO_SUCH_OPERATION, { cause: error, dependency: (error as AppError).dependency });
}

/**
 * Returns the operation's input without the person whom the page shows.
 *
 * @throws AppError `other_person` if the page shows another person than the one of the session
 */
function requireShown(body: unknown, { email }: Person): unknown {
  if (typeof body !== "object" || body === null || !(PERSON_FIELD in body)) return body;
  const { [PERSON_FIELD]: shown, ...input } = body;
  if (shown === email) return input;
  throw new AppError("other_person", `Nothing was changed: ${email} is signed in now.`);
}

/**
 * Returns the caller's membership of the brand that the input names.
 *
 * @throws AppError `not_found` for a brand of others and an unknown one alike
 */
function membershipOf({ memberships }: Person, body: unknown): Person["memberships"][number] {
  const named = brandNamedIn(body);
  const brand = memberships.find(({ brand_id }) => brand_id === named);
  if (brand !== undefined) return brand;
  throw new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id" });
}

function brandNamedIn(body: unknown): string | undefined {
  const named = (body as { brand_id?: unknown } | null | undefined)?.brand_id;
  return typeof named === "string" ? named : undefined;
}

/** The session is looked up for the brand that a body names, and before a malformed one is refused. */
function tryToParse(bytes: Buffer): { readonly body?: unknown; readonly error?: unknown } {
  try {
    return { body: parseJson(bytes) };
  } catch (error) {
    return { error };
  }
}
