import { ownPath } from "@brand-records/console-contract/own-path";
import type { Request, Response } from "express";
import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client";
import { cookie, type Cookie } from "../http/cookies.ts";
import { sealedValues } from "./sealed-values.ts";

const TTL_SECONDS = 10 * 60;
/** Longer than an attempt is valid: until then a late return differs from an unknown one. */
const COOKIE_SECONDS = 60 * 60;
/** Attempts in one browser. */
const ATTEMPTS_MAX = 6;

/** A sign-in under way at the provider. */
export interface Attempt {
  /** Ties the provider's response to this browser. */
  readonly state: string;
  /** Ties the ID token to this attempt. */
  readonly nonce: string;
  /** Ties the code to this attempt (PKCE). */
  readonly verifier: string;
  readonly returnTo: string;
  /** Whether a page of the console began it, or the address bar. */
  readonly isHere: boolean;
}

export interface Attempts {
  /** Begins an attempt, beside others in the same browser. Of six the oldest makes room. */
  begin(request: Request, response: Response, from: { readonly returnTo: unknown; readonly isHere: boolean }): Promise<Attempt>;
  /** Returns the attempt of a state, once: the browser forgets it. Undefined if this browser has none. */
  take(request: Request, response: Response, state: string): Promise<{ attempt: Attempt; isExpired: boolean } | undefined>;
}

interface Slot {
  readonly cookie: Cookie;
  /** Undefined if the cookie is absent, or no console of this deployment has sealed it. */
  readonly kept: { readonly value: Attempt & { readonly begunAt: number }; readonly isExpired: boolean } | undefined;
}

/**
 * Keeps each attempt in a cookie, encrypted: no console has to remember it, and no other browser can finish it. The cookies have six names:
 * with a name for each attempt, 20 that began at the same time, which all saw none of the others, left 47 KB, and 431 on every page.
 */
export function openAttempts(publicUrl: string, clientSecret: string): Attempts {
  const sealed = sealedValues<Attempt & { begunAt: number }>(clientSecret, "sign-in attempt");
  const cookies = Array.from({ length: ATTEMPTS_MAX }, (_, slot) => cookie(publicUrl, `sign-in-${slot}`));
  const slotsOf = (request: Request): Promise<Slot[]> =>
    Promise.all(cookies.map(async (each) => ({ cookie: each, kept: await sealed.open(each.read(request) ?? "") })));
  return {
    async begin(request, response, { returnTo, isHere }) {
      const attempt = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        returnTo: ownPath(returnTo),
        isHere,
      };
      // A random one of the free slots: two tabs that begin at the same time see the same, and would both take the first.
      const ages = (await slotsOf(request)).map((slot) => ({ ...slot, begunAt: slot.kept?.value.begunAt ?? Math.random() }));
      const oldest = ages.reduce((first, next) => (next.begunAt < first.begunAt ? next : first));
      oldest.cookie.set(response, await sealed.seal({ ...attempt, begunAt: Date.now() }, TTL_SECONDS), COOKIE_SECONDS);
      return attempt;
    },
    async take(request, response, state) {
      const slot = (await slotsOf(request)).find(({ kept }) => kept?.value.state === state);
      if (slot?.kept === undefined) return undefined;
      slot.cookie.clear(response);
      return { attempt: slot.kept.value, isExpired: slot.kept.isExpired };
    },
  };
}
