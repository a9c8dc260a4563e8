import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchange, type Sent } from "./exchange.ts";

const FOLDER = join(process.cwd(), "test/recorded/answers");

/** Sends a request and records its response. Returns the response as it came. */
export type Send = (name: string, sent: Sent) => Promise<string>;

/** Headers that nearly every response has: an entry says where one is missing or differs. */
const USUAL_HEADERS: Readonly<Record<string, RegExp>> = {
  "cache-control": /^(private, )?no-store$/,
  "content-type": /^application\/json; charset=utf-8$/,
  "x-content-type-options": /^nosniff$/,
  "x-request-id": /^<uuid>$/,
};
/** Says nothing, or something else in every run. */
const UNRECORDED_HEADERS: ReadonlySet<string> = new Set(["connection", "content-length", "date", "etag", "last-modified", "vary"]);

/** What differs from run to run, or is random. */
const MASKS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bbrk_(?:live|test)_\w{36}\b/g, "<key>"],
  [/(\bbrk_(?:live|test)_…)\w{4}\b/g, "$1<end>"],
  [/\bwhsec_[\w+/=]{32,}/g, "<secret>"],
  [/(?<=sign-in#)[\w-]{20,}/g, "<link>"],
  [/\b([a-z]{2,3})_[0-9a-z]{26}\b/g, "<$1>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>"],
  [/\b\w{3,6}day \d{4}-\d\d-\d\d, \d\d:\d\d(?= in Manila)/g, "<day and time>"],
  [/(?<=as listed: |before today, )(?:\w+ )?\d{4}-\d\d-\d\d/g, "<day>"],
  [/("next_cursor\\?":\\?")[\w-]+/g, "$1<cursor>"],
  [/^((?:retry-after|ratelimit-reset): )\d+/gm, "$1<seconds>"],
  [/^(ratelimit: "brand";r=)\d+;t=\d+/gm, "$1<requests>;t=<seconds>"],
  [/(127\.0\.0\.1|localhost):\d+/g, "$1:<port>"],
  // The gateway counts at its own times.
  [/("usage":\{"from":"[^"]+","buckets":\[)[^\]]*/g, "$1<counts>"],
  [/((?:__Host-)?session)(?:_\d+)?=[\w-]{20,}/g, "$1=<token>"],
  [/((?:__Host-)?session)_\d+=/g, "$1="],
  [/('nonce-)[\w+/=-]{16,}/g, "$1<nonce>"],
];

const masked = (text: string): string => MASKS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);

/** One file of responses by the names of their requests: the status, headers that are not the usual ones, and below them the body. */
export class Recording {
  readonly #path: string;
  readonly entries: string[] = [];

  constructor(name: string) {
    this.#path = join(FOLDER, `${name}.txt`);
  }

  /** Returns what records the answers of a server. */
  of(baseUrl: string): Send {
    return async (name, sent) => {
      const response = await exchange(baseUrl, sent);
      this.entries.push(`${name}: ${describe(response)}`);
      return response;
    };
  }

  /** The entries of the stored file. */
  stored(): string[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, "utf8")
      .trimEnd()
      .split(/\n(?! )/);
  }

  store(): void {
    writeFileSync(this.#path, `${this.entries.join("\n")}\n`);
  }
}

function describe(response: string): string {
  const begin = response.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = response.slice(0, begin).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = headersOf(lines).filter(([name, value]) => !UNRECORDED_HEADERS.has(name) && USUAL_HEADERS[name]?.test(value) !== true);
  const body = bodyOf(status, response.slice(begin + 4));
  return `${status}${headers.map(([name, value]) => ` | ${name}: ${value}`).join("")}${body === "" ? "" : `\n  ${body}`}`;
}

/** Masked, with `none` for each usual header that is missing. */
function headersOf(lines: readonly string[]): (readonly [name: string, value: string])[] {
  const headers = lines.map((line) => {
    const end = line.indexOf(":");
    const name = line.slice(0, end).toLowerCase();
    return [name, masked(`${name}: ${line.slice(end + 1).trim()}`).slice(end + 2)] as const;
  });
  const names = new Set(headers.map(([name]) => name));
  return [
    ...headers,
    ...Object.keys(USUAL_HEADERS)
      .filter((name) => !names.has(name))
      .map((name) => [name, "none"] as const),
  ];
}

/** Records errors completely, the first record of a list, and the beginning of what is no JSON, such as a page, and of the description. */
function bodyOf(status: number, body: string): string {
  if (!body.startsWith("{")) return masked(body).split("\n", 1)[0] ?? "";
  if (body.startsWith('{"openapi"')) return body.split(",", 1)[0] ?? "";
  return masked(status < 400 ? JSON.stringify(firstsOf(JSON.parse(body))) : body);
}

function firstsOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isList = value.length > 1 && typeof value[0] === "object";
    return isList ? [firstsOf(value[0]), `and ${value.length - 1} more`] : value.map(firstsOf);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, firstsOf(field)]));
}
