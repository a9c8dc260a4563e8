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
