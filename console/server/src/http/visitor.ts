import type { Request, Response } from "express";
import Bowser from "bowser";
import { LRUCache } from "lru-cache";
import type { Visitor } from "../operations/operation.ts";
import type { CallDependencies } from "./dependencies.ts";
import { contextOf } from "./request-context.ts";
import { sessionCookie } from "./cookies.ts";

/** Returns who sends a request, as far as that is known without a look-up. */
export function visitorOf(
  { config, provider, providerSignOut }: Pick<CallDependencies, "config" | "provider" | "providerSignOut">,
  request: Request,
  response: Response,
): Visitor {
  const call = contextOf(response);
  const cookie = sessionCookie(config.PUBLIC_URL);
  return {
    call,
    // The audit log gets the browser's family alone: versions would tell people apart.
    client: () => ({ address: call.address || null, browser: browserFamily(request.get("user-agent")) }),
    config,
    provider,
    sessionToken: cookie.read(request),
    startSession: (token) => cookie.set(response, token),
    endSession: () => cookie.clear(response),
    providerSignOutLocation: async (token) => (await providerSignOut?.locationFor(request, response, token, call)) ?? null,
  };
}

/** Browsers send about 120 characters. */
const USER_AGENT_LENGTH_MAX = 400;

/** What accounts takes for one: unknown programs have names of any length. */
const FAMILY = /^[^\p{Cc}]{1,40}$/u;
/** Every call needs it, and parsing takes longer than the rest of a look-up. */
const families = new LRUCache<string, string>({ max: 500, memoMethod: (text) => Bowser.getParser(text).getBrowserName().trim() });

/** Returns null for what is no browser that is known. */
export function browserFamily(userAgent: string | undefined): string | null {
  const text = userAgent?.slice(0, USER_AGENT_LENGTH_MAX);
  const family = text ? families.memo(text) : "";
  return FAMILY.test(family) ? family : null;
}
