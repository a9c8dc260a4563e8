import { readHttpDate } from "./http-date.ts";

/** What the service says beside a response's body. */
export interface ResponseMeta {
  readonly status: number;
  /** The brand of the key that was sent. */
  readonly brandId: string | undefined;
  /** Identifies the request: quote it to support. */
  readonly requestId: string | undefined;
  /** When the service sent it, by its clock. */
  readonly date: Date | undefined;
  /** The brand's limit, which all its keys share. */
  readonly rateLimit: RateLimit | undefined;
}

export interface RateLimit {
  /** Requests in a window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** Requests that are left. */
  readonly remaining: number;
  /** Seconds until the oldest counted request leaves the window. */
  readonly resetSeconds: number;
}

export function responseMeta({ status, headers }: Response): ResponseMeta {
  return {
    status,
    brandId: headers.get("X-Brand-Id") ?? undefined,
    requestId: headers.get("X-Request-Id") ?? undefined,
    date: readDate(headers.get("Date")),
    rateLimit: readRateLimit(headers.get("RateLimit-Policy") ?? "", headers.get("RateLimit") ?? ""),
  };
}

function readDate(text: string | null): Date | undefined {
  const milliseconds = readHttpDate(text ?? "", Date.now());
  return milliseconds === undefined ? undefined : new Date(milliseconds);
}

/** `"brand";q=60;w=60` and `"brand";r=41;t=17`. */
function readRateLimit(policy: string, state: string): RateLimit | undefined {
  const [limit, windowSeconds] = [parameter(policy, "q"), parameter(policy, "w")];
  const [remaining, resetSeconds] = [parameter(state, "r"), parameter(state, "t")];
  const isWhole = [limit, windowSeconds, remaining, resetSeconds].every((value) => !Number.isNaN(value));
  return isWhole ? { limit, windowSeconds, remaining, resetSeconds } : undefined;
}

const parameter = (text: string, name: string): number => Number(new RegExp(`;\\s*${name}=(\\d+)`).exec(text)?.[1] ?? Number.NaN);

/** More than a day's milliseconds may be more than a timer takes, which would end at once. */
const RETRY_AFTER_SECONDS_MAX = 86_400;

/** Returns the seconds of Retry-After, a day at most: a number, or an HTTP date, which counts from the response's own. */
export function readRetryAfter({ headers }: Response): number | undefined {
  const text = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_SECONDS_MAX);
  const at = readDate(text)?.getTime();
  if (at === undefined) return undefined;
  const sentAt = readDate(headers.get("Date"))?.getTime() ?? Date.now();
  return Math.min(Math.max(0, Math.ceil((at - sentAt) / 1_000)), RETRY_AFTER_SECONDS_MAX);
}
