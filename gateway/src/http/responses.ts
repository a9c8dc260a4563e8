import { AppError } from "@brand-records/errors";
import type { Request, Response } from "express";
import { WINDOW_SECONDS, type CountedVerdict } from "../limits/rate-limiter.ts";

/**
 * @param allowed as in the header `Allow`
 * @throws AppError `method_not_allowed`
 */
export function requireMethod(request: Request, response: Response, allowed: string): void {
  if (allowed.split(", ").includes(request.method)) return;
  response.setHeader("Allow", allowed);
  throw new AppError("method_not_allowed", `This path supports ${allowed} only.`);
}

/**
 * Reports the state of the brand's window on every authenticated response.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function setRateLimitHeaders(response: Response, verdict: CountedVerdict): void {
  const [remaining, seconds] = verdict.kind === "admitted" ? [verdict.remaining, verdict.resetSeconds] : [0, verdict.retryAfterSeconds];
  response.setHeader("RateLimit-Policy", `"brand";q=${verdict.limit};w=${WINDOW_SECONDS}`);
  response.setHeader("RateLimit", `"brand";r=${remaining};t=${seconds}`);
}

const JSON_TYPE = "application/json; charset=utf-8";

/** Writes a response with its length; for HEAD the same headers and no body. Not `response.json`: no ETag, no settings. */
export function send(response: Response, status: number, body: string, type: string = JSON_TYPE): void {
  const bytes = Buffer.byteLength(body);
  response.statusCode = status;
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", bytes);
  // The same bytes, if all is ASCII. As UTF-8, Node reserves three bytes for each character and encodes them.
  response.end(body, bytes === body.length ? "latin1" : "utf8");
}
