import type { Response } from "express";
import type { Verdict } from "../limits/rate-limiter.ts";

const POLICY = '"brand"';
const WINDOW_SECONDS = 60;

/**
 * Tells the brand's window on every authenticated answer.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function setRateLimitHeaders(response: Response, verdict: Exclude<Verdict, { kind: "stale" }>): void {
  response.setHeader("RateLimit-Policy", `${POLICY};q=${verdict.limit};w=${WINDOW_SECONDS}`);
  const remaining = verdict.kind === "admitted" ? verdict.remaining : 0;
  const seconds = verdict.kind === "admitted" ? verdict.resetSeconds : verdict.retryAfterSeconds;
  response.setHeader("RateLimit", `${POLICY};r=${remaining};t=${seconds}`);
}
