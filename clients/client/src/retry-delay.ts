import type { BrandRecordsError } from "./brand-records-error.ts";

const BACKOFF_MS_MIN = 500;
const BACKOFF_MS_MAX = 20_000;

/** Responses that may differ the next time, and no response. A whole page that is cut has the status 200. */
export function mayPass({ code, status }: BrandRecordsError): boolean {
  if (code === "wrong_brand") return false;
  return status === undefined || status === 408 || status === 429 || status >= 500 || code === "no_response";
}

/**
 * Returns the milliseconds to wait before the request is sent again: Retry-After in full, and a random part, so that clients which
 * failed together do not return together. It grows with the failures, but not with responses that the limit refused and timed.
 *
 * @param failures before this one, less the refusals by the limit
 * @param random from 0 to 1
 */
export function retryDelayMs({ status, retryAfter }: BrandRecordsError, failures: number, random: number): number {
  const isTimed = status === 429 && retryAfter !== undefined;
  const ceiling = isTimed ? BACKOFF_MS_MIN : Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures);
  return (retryAfter ?? 0) * 1_000 + random * ceiling;
}
