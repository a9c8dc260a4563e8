import type { Outcome } from "./outcome.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses after the first, second … ninth attempt. The tenth is the last. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Pauses are lengthened by up to so much, so that what failed together does not come back together. */
const JITTER = 0.2;
const RETRY_AFTER_SECONDS_MAX = 24 * HOUR;

export type NextState =
  { readonly state: "delivered" } | { readonly state: "failed" } | { readonly state: "pending"; readonly delaySeconds: number };

/**
 * What becomes of a delivery after an attempt.
 *
 * @param attempt the first is 1
 * @param jitter 0 to 1, at random
 * @param delays seconds after each attempt; there is one attempt more
 */
export function nextState(outcome: Outcome, attempt: number, jitter: number, delays = RETRY_DELAYS_SECONDS): NextState {
  if (outcome.outcome === "accepted") return { state: "delivered" };
  if (outcome.outcome === "unsendable") return { state: "failed" };
  const delay = delays[attempt - 1];
  if (delay === undefined) return { state: "failed" };
  const asked = Math.min(outcome.retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX);
  return { state: "pending", delaySeconds: Math.max(delay * (1 + JITTER * jitter), asked) };
}

/** Whole seconds from `now` that a Retry-After header asks for; null if it says nothing that can be understood. */
export function readRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // HTTP dates only: Date.parse takes nearly anything.
  if (!/^[A-Za-z]{3,9},? \d{1,2}[ -][A-Za-z]{3}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000));
}
