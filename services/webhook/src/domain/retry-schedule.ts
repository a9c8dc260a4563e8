import type { Outcome } from "./outcome.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Delays after the first, second … ninth attempt. The tenth is the last. */
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
/** Lengthens delays by up to this share, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
const RETRY_AFTER_SECONDS_MAX = 24 * HOUR;

export type NextState =
  { readonly state: "delivered" } | { readonly state: "failed" } | { readonly state: "pending"; readonly delaySeconds: number };

/**
 * Returns the next state of a delivery after an attempt.
 *
 * @param attempt the first is 1
 * @param jitter random, 0 to 1
 * @param delays seconds after each attempt but the last
 */
export function nextState(outcome: Outcome, attempt: number, jitter: number, delays = RETRY_DELAYS_SECONDS): NextState {
  if (outcome.kind === "accepted") return { state: "delivered" };
  if (outcome.kind === "unsendable") return { state: "failed" };
  const delay = delays[attempt - 1];
  if (delay === undefined) return { state: "failed" };
  const retryAfter = Math.min(outcome.retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX);
  return { state: "pending", delaySeconds: Math.max(delay * (1 + JITTER * jitter), retryAfter) };
}

/** Returns whole seconds from `now` until the time in a Retry-After header, however many: nextState bounds them; null if it cannot be parsed. */
export function readRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  const at = readHttpDate(text, now);
  return at === undefined ? null : Math.max(0, Math.ceil((at - now) / 1_000));
}

/** RFC 9110, section 5.6.7: IMF-fixdate, that of RFC 850, and asctime. */
const FORMS = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/**
 * Returns an HTTP date in milliseconds since the epoch; undefined if it is none. `Date.parse` alone takes half of everything else for a date.
 *
 * @param now decides the century of two digits: the year is less than fifty years away
 */
function readHttpDate(text: string, now: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const { day = "", month = "", year = "", time = "" } = parts;
  const fullYear = year.length === 4 ? year : fullYearOf(Number(year), new Date(now).getUTCFullYear());
  // A leap second counts as the one before it.
  const date = `${day.replace(" ", "0")} ${month} ${fullYear} ${time.replace(/:60$/, ":59")} GMT`;
  const at = new Date(date);
  // V8 takes February 30 for March 2.
  return at.toUTCString().endsWith(`, ${date}`) ? at.getTime() : undefined;
}

function fullYearOf(lastTwoDigits: number, thisYear: number): number {
  const years = (lastTwoDigits - (thisYear % 100) + 100) % 100;
  return thisYear + (years > 50 ? years - 100 : years);
}
