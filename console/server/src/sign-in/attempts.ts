import { hash } from "node:crypto";
import { ownPath } from "@brand-records/console-contract/own-path";
import type { Request, Response } from "express";
import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client";
import { cookie, cookieNames, type Cookie } from "../http/cookies.ts";
import { sealedValues } from "./sealed-values.ts";

const TTL_SECONDS = 10 * 60;
/** Longer than an attempt is valid: until then a late return differs from an unknown one. */
const COOKIE_SECONDS = 60 * 60;
/** Attempts in one browser. More of their cookies, which another site may provoke, would exceed the limit of a request's headers. */
const ATTEMPTS_MAX = 6;
const NAME_START = "sign-in-";

/** A sign-in under way at the provider. */
export interface Attempt {
  /** Ties the provider's response to this browser. */
  readonly state: string;
  /** Ties the ID token to this attempt. */
  readonly nonce: string;
  /** Ties the code to this attempt (PKCE). */
  readonly verifier: string;
  readonly returnTo: string;
}

export interface Attempts {
  /** Begins an attempt, beside others in the same browser. */
  begin(request: Request, response: Response, returnTo: unknown): Promise<Attempt>;
  /** Returns the attempt of a state, once: the browser forgets it. Undefined if this browser has none. */
  take(request: Request, response: Response, state: string): Promise<{ attempt: Attempt; isExpired: boolean } | undefined>;
}

/** Keeps each attempt in a cookie of its own, encrypted: no console has to remember it, and no other browser can finish it. */
export function openAttempts(publicUrl: string, clientSecret: string): Attempts {
  const sealed = sealedValues<Attempt>(clientSecret, "sign-in attempt");
  // A hash, because a forged state may hold anything.
  const cookieOf = (state: string): Cookie => cookie(publicUrl, `${NAME_START}${hash("sha256", state, "hex").slice(0, 16)}`);
  return {
    async begin(request, response, returnTo) {
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), returnTo: ownPath(returnTo) };
      const earlier = cookieNames(publicUrl, NAME_START, request);
      for (const name of earlier.slice(0, -(ATTEMPTS_MAX - 1))) cookie(publicUrl, name).clear(response);
      cookieOf(attempt.state).set(response, await sealed.seal(attempt, TTL_SECONDS), COOKIE_SECONDS);
      return attempt;
    },
    async take(request, response, state) {
      const kept = cookieOf(state).read(request);
      if (kept === undefined) return undefined;
      cookieOf(state).clear(response);
      const opened = await sealed.open(kept);
      if (opened === undefined || opened.value.state !== state) return undefined;
      return { attempt: opened.value, isExpired: opened.isExpired };
    },
  };
}
