import type { Random } from "@brand-records/demo-data";

/** What the upstream does with a request. Its marker names it, as the gateway forwards no header of ours. */
const UPSTREAM_FAULTS = [
  "none",
  "early",
  "reset",
  "end",
  "stall",
  "hold",
  "cut",
  "cut-reset",
  "close-after",
  "garbage",
  "hint",
  "chunks",
] as const;
/** `hold` takes long: it is for the burst. */
const FREQUENT_FAULTS = UPSTREAM_FAULTS.filter((fault) => fault !== "hold");
/** `hidden` is served: it came within another request's bytes. */
export type UpstreamFault = (typeof UPSTREAM_FAULTS)[number] | "hidden";

export interface SentRequest {
  /** Marker in its path, its request id, its cookie and its body. */
  readonly marker: string;
  readonly method: string;
  readonly body: string;
  /** Has what the console's paths do not take: the upstream must not see it. */
  readonly isRefused: boolean;
}

export type Ending = "wait" | "reset" | "destroy" | "half-close" | "unread";

export interface RandomConnection {
  readonly id: number;
  readonly requests: readonly SentRequest[];
  readonly pieces: readonly Buffer[];
  readonly ending: Ending;
  /** Every request is plain, and the client waits for the responses. */
  readonly isPlain: boolean;
}

const METHODS = ["POST", "GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PUT", "PATCH", "SEARCH", "BREW"] as const;
const METHOD_WEIGHTS = [40, 25, 6, 6, 6, 5, 5, 4, 2, 1];
const PATHS = ["/developers/", "/console/api/", "/sign-in/", "/workspaces/", "/auth/"] as const;

const CRLF = "\r\n";

/** A whole request within the bytes of another: what a forwarder without frames would pass on as the next one. */
const hidden = (marker: string): string =>
  `POST /console/api/${marker} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${marker}\r\nCookie: m=${marker}\r\nContent-Length: 2\r\n\r\n{}`;

interface Framing {
  readonly headers: readonly string[];
  readonly bytes: string;
  /** HTTP gives these bytes this body, whatever the method. */
  readonly body?: string;
}

function chunked(random: Random, body: string): string {
  let left = body;
  let bytes = "";
  while (left !== "") {
    const chunk = left.slice(0, random.between(1, Math.max(1, left.length)));
    const extension = random.chance(0.1) ? ";a=b" : "";
    bytes += `${chunk.length.toString(16)}${extension}${CRLF}${chunk}${CRLF}`;
    left = left.slice(chunk.length);
  }
  return `${bytes}0${CRLF}${CRLF}`;
}

/** @param text begins with the marker of the request around it */
const hiddenMarker = (text: string): string => text.replace(/^(c\d+-r\d+)-.*$/s, "$1-hidden");

const length = (body: string): string => `Content-Length: ${body.length}`;

/** Ways to announce a body: right, ambiguous and wrong. */
const FRAMINGS: readonly ((random: Random, body: string) => Framing)[] = [
  (_, body) => ({ headers: [length(body)], bytes: body, body }),
  (random, body) => ({ headers: ["Transfer-Encoding: chunked"], bytes: chunked(random, body), body }),
  () => ({ headers: [], bytes: "", body: "" }),
  () => ({ headers: ["Content-Length: 0"], bytes: "", body: "" }),
  () => ({ headers: ["Transfer-Encoding: chunked"], bytes: `0${CRLF}${CRLF}`, body: "" }),
  (_, body) => ({ headers: [], bytes: body }),
  (_, body) => ({ headers: [length(body)], bytes: body + hidden(hiddenMarker(body)) }),
  (_, body) => ({ headers: [`Content-Length: ${body.length + 100}`], bytes: body }),
  (random, body) => ({ headers: [length(body), "Transfer-Encoding: chunked"], bytes: chunked(random, body) }),
  (random, body) => ({ headers: ["Transfer-Encoding: chunked", length(body)], bytes: chunked(random, body) }),
  (_, body) => ({ headers: [length(body), length(body)], bytes: body }),
  (_, body) => ({ headers: [length(body), `Content-Length: ${body.length + 1}`], bytes: body }),
  (_, body) => ({ headers: [`Content-Length: ${body.length}, ${body.length}`], bytes: body }),
  (random, body) => ({
    headers: [`Content-Length: ${random.pick(["+5", "-1", "0x5", "5 5", "", "99999999999999999999", "1e1"])}`],
    bytes: body,
  }),
  (random, body) => ({
    headers: [
      `Transfer-Encoding: ${random.pick(["identity", "chunked, identity", "gzip, chunked", "xchunked", "Chunked", "chunked,", "\u000bchunked"])}`,
    ],
    bytes: chunked(random, body),
  }),
  (random, body) => ({ headers: [random.pick(["Transfer-Encoding : chunked", "Content-Length : 5", " Content-Length: 5"])], bytes: body }),
  (random, body) => ({
    headers: ["Transfer-Encoding: chunked"],
    bytes: `${random.pick(["zz", "-5", "ffffffffffffffff", "5;\n", ""])}${CRLF}${body}`,
  }),
  (_, body) => ({ headers: ["Transfer-Encoding: chunked", "Trailer: a"], bytes: `0${CRLF}a: ${body.slice(0, 10)}${CRLF}${CRLF}` }),
  (_, body) => ({ headers: [length(body), "Expect: 100-continue"], bytes: body, body }),
];
/** The first five are clear; the others follow them in equal shares. */
const FRAMING_WEIGHTS = FRAMINGS.map((_, n) => [40, 20, 15, 5, 3][n] ?? 2);

/** Headers that change what a careless hop does with the others. Those of the connection are the most telling. */
const MUTATIONS: readonly ((random: Random) => string)[] = [
  (random) =>
    `Connection: ${random.pick(["close", "keep-alive", "content-length", "transfer-encoding", "cookie, host", "x-request-id", "Upgrade", ",,"])}`,
  (random) => `Connection: keep-alive, ${random.pick(["cookie", "Cookie, X-Forwarded-For", "content-length, cookie"])}`,
  (random) => `Connection: close, ${random.pick(["content-length", "transfer-encoding", "content-length, transfer-encoding"])}`,
  (random) => `Upgrade: ${random.pick(["websocket", "h2c", "TLS/1.3"])}`,
  () => "Trailer: content-length",
  () => "TE: trailers, deflate;q=0.5",
  () => "Keep-Alive: timeout=1000",
  () => "Proxy-Connection: keep-alive",
  () => "Host: other.example",
  () => "Expect: tea",
  () => "Expect: 100-continue",
  () => "X-Forwarded-Proto: gopher",
  () => "X-HTTP-Method-Override: DELETE",
  () => "Content-Encoding: gzip",
  () => "Accept: text/html",
  (random) => `X-Odd: ${random.pick(["\u0080\u00ff", "\t", "a\u0000b", "a\rb", "a\nb", '(")\\'])}`,
  (random) => `${random.pick(["X Odd", "X-Odd(", "", "\u0001"])}: value`,
  (random) => `X-Large: ${"x".repeat(random.pick([1_000, 20_000, 40_000]))}`,
  () => " folded: continues the line before",
];

const ENDINGS: readonly Ending[] = ["wait", "reset", "destroy", "half-close", "unread"];

/** Returns connection `id` of a seed: always the same. */
export function randomConnection(random: Random, id: number): RandomConnection {
  const isPlain = random.chance(0.35);
  const requests: SentRequest[] = [];
  let text = "";
  const count = random.between(1, 6);
  for (let index = 0; index < count; index += 1) {
    const { request, bytes } = isPlain ? plainRequest(random, id, index, index === count - 1) : oddRequest(random, id, index);
    requests.push(request);
    text += bytes;
  }
  const ending = isPlain ? "wait" : random.pickWeighted(ENDINGS, [60, 15, 10, 10, 5]);
  const whole = Buffer.from(text, "latin1");
  const cut = ending === "wait" || random.chance(0.3) ? whole : whole.subarray(0, random.below(whole.length));
  return { id, requests, pieces: pieces(random, cut), ending, isPlain };
}

const bodyOf = (random: Random, marker: string): string => {
  const filler = random.pickWeighted([0, 20, 2_000, 60_000, 300_000, 800_000], [30, 40, 20, 4, 0.4, 0.1]);
  return `${marker}|${random.chance(0.5) ? hidden(hiddenMarker(marker)) : ""}${"x".repeat(filler)}`;
};

/** Each client has an address of its own: requests in flight are bounded for each. */
const address = (id: number): string => `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`;

const headersOf = (id: number, marker: string): string[] => [
  "Host: records.example",
  `X-Request-Id: ${marker}`,
  `X-Forwarded-For: ${address(id)}`,
  `Cookie: m=${marker}`,
];

function plainRequest(random: Random, id: number, index: number, isLast: boolean): { request: SentRequest; bytes: string } {
  const marker = `c${id}-r${index}-none`;
  const method = random.pickWeighted(["POST", "GET", "HEAD", "DELETE"], [60, 25, 10, 5]);
  let body = method === "POST" ? bodyOf(random, marker) : "";
  if (body.length > 700_000) body = body.slice(0, 700_000);
  const framing = FRAMINGS[method === "POST" ? random.below(2) : 2]!(random, body);
  const headers = [...headersOf(id, marker), ...framing.headers, ...(isLast ? ["Connection: close"] : [])];
  const bytes = `${method} ${random.pick(PATHS)}${marker} HTTP/1.1${CRLF}${headers.join(CRLF)}${CRLF}${CRLF}${framing.bytes}`;
  return { request: { marker, method, body, isRefused: false }, bytes };
}

function oddRequest(random: Random, id: number, index: number): { request: SentRequest; bytes: string } {
  const fault = random.chance(0.3) ? random.pick(FREQUENT_FAULTS) : "none";
  const marker = `c${id}-r${index}-${fault}`;
  const method = random.pickWeighted(METHODS, METHOD_WEIGHTS);
  const framing = random.pickWeighted(FRAMINGS, FRAMING_WEIGHTS)(random, bodyOf(random, marker));
  const headers = [...headersOf(id, marker), ...framing.headers];
  const mutations = random.chance(0.6) ? 0 : random.between(1, 3);
  for (let n = 0; n < mutations; n += 1) headers.splice(random.between(0, headers.length), 0, random.pick(MUTATIONS)(random));
  const target = random.pickWeighted(["", "http://records.example", "?a=b&c", "#a"], [90, 4, 4, 2]);
  const path = `${random.pick(PATHS)}${marker}`;
  const url = target.startsWith("http") ? target + path : path + target;
  const version = random.pickWeighted(["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0"], [95, 3, 1, 1]);
  const end = random.chance(0.02) ? "\n" : CRLF;
  const bytes = `${method} ${url} ${version}${end}${headers.join(end)}${end}${end}${framing.bytes}`;
  const hasBody = headers.some((header) => /^(transfer-encoding|content-length):(?! 0$)/i.test(header));
  const isRefused = (method !== "POST" && hasBody) || headers.some((header) => /^(upgrade|trailer):/i.test(header));
  return { request: { marker, method, body: framing.body ?? "", isRefused }, bytes };
}

/** Splits bytes at a few random places: they arrive in packets of their own. */
function pieces(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: random.pickWeighted([0, 1, 3], [60, 30, 10]) }, () => random.below(bytes.length + 1)).toSorted(
    (a, b) => a - b,
  );
  return [0, ...cuts].map((start, n) => bytes.subarray(start, cuts[n] ?? bytes.length)).filter(({ length: size }) => size > 0);
}
