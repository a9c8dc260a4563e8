import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

interface Request {
  /** The receiver's: the active and the next. */
  readonly secrets: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly test: boolean;
    readonly created_at: string;
    readonly brand_id: string;
  };
}

/** One of the two signatures of docs/webhooks.md. */
interface Scheme {
  readonly timestamp: string;
  readonly signature: string;
  /** Has the digest as its group. */
  readonly form: RegExp;
  readonly encoding: "hex" | "base64";
  key(secret: string): string | Buffer;
  /** What is signed before the body. */
  prefix(headers: Request["headers"], timestamp: string): string;
}

const OWN: Scheme = {
  timestamp: "x-service-timestamp",
  signature: "x-service-signature",
  form: /^sha256=([0-9a-f]{64})$/,
  encoding: "hex",
  key: (secret) => secret,
  prefix: (_, timestamp) => `${timestamp}.`,
};

const STANDARD: Scheme = {
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
  form: /^v1,([A-Za-z0-9+/]{43}=)$/,
  encoding: "base64",
  key: (secret) => Buffer.from(secret.slice("whsec_".length), "base64"),
  prefix: (headers, timestamp) => `${String(headers["webhook-id"])}.${timestamp}.`,
};

/** What a receiver does. */
interface Steps {
  readonly bytesMax: number;
  readonly scheme: Scheme;
  secrets(secrets: readonly string[]): readonly string[];
  /** Whether it takes a request for one that needs no signature. */
  trusts(request: Request): boolean;
  /** Truthy if it takes a request for verified. */
  verifies(request: Request, own: Steps): unknown;
  isTimestamp(text: string): boolean;
  /** The time, in Unix seconds, that it compares with the clock. */
  time(request: Request, own: Steps): number;
  isNear(ageSeconds: number): boolean;
  /** What may have been signed. */
  signed(body: Buffer, timestamp: string): readonly (readonly [timestamp: string, body: Buffer])[];
  equals(given: Buffer, digest: Buffer): boolean;
  /** Whether it goes on with a type in the header that differs from the body's. */
  readonly ignoresHeader: boolean;
  /** The type by which it decides whether it is configured for the event. */
  type(request: Request): string;
  readonly types: Pick<ReadonlySet<string>, "has"> | undefined;
  isForm(request: Request): boolean;
  /** When it looks an event up among those that it has, and what it responds if it has it. */
  readonly remembers: "after verifying" | "before verifying" | "once processed, before verifying";
  key(request: Request): string;
  readonly repeated: number;
  /** How long it works on an event, in which it refuses the same one. */
  readonly workMs: number;
  /** The status that is sent in place of a status, by what is before the receiver too. @param count requests, with this one */
  respond(status: number, count: number, refusals: number): number;
  send(response: ServerResponse, status: number): void;
}

/** A receiver that keeps every rule. */
const RIGHT: Steps = {
  bytesMax: 65_536,
  scheme: OWN,
  secrets: (secrets) => secrets,
  trusts: () => false,
  verifies: (request, own) => isSigned(request, own),
  isTimestamp: (text) => /^[0-9]{1,12}$/.test(text),
  time: ({ headers }, { scheme }) => Number(headers[scheme.timestamp]),
  isNear: (age) => Math.abs(age) <= 300,
  signed: (body, timestamp) => [[timestamp, body]],
  equals: (given, digest) => given.length === digest.length && timingSafeEqual(given, digest),
  ignoresHeader: false,
  type: ({ event }) => event.type,
  types: new Set(["payout.paid", "campaign.settled", "submission.approved", "submission.rejected"]),
  isForm: () => true,
  remembers: "after verifying",
  key: ({ event }) => event.id,
  repeated: 204,
  workMs: 0,
  respond: (status) => status,
  send: (response, status) => void response.writeHead(status, { connection: "close" }).end(),
};

const digestsIn = ({ headers }: Request, { form, signature, encoding }: Scheme): Buffer[] =>
  String(headers[signature])
    .split(" ")
    .flatMap((text) => form.exec(text)?.[1] ?? [])
    .map((digest) => Buffer.from(digest, encoding));

function isSigned(request: Request, own: Steps): boolean {
  const { scheme } = own;
  const timestamp = String(request.headers[scheme.timestamp]);
  if (!own.isTimestamp(timestamp) || !own.isNear(ageAt(own.time(request, own)))) return false;
  const signed = own.secrets(request.secrets).flatMap((secret) =>
    own.signed(request.body, timestamp).map(([time, body]) => {
      return createHmac("sha256", scheme.key(secret)).update(scheme.prefix(request.headers, time)).update(body).digest();
    }),
  );
  return digestsIn(request, scheme).some((given) => signed.some((digest) => own.equals(given, digest)));
}

const ageAt = (seconds: number): number => Date.now() / 1_000 - seconds;

const has = ({ headers }: Request, { signature }: Scheme): boolean => headers[signature] !== undefined;

const names = ({ headers }: Request): string[] => Object.keys(headers).filter((name) => /^(x-service|webhook)-/.test(name));

/** Verifies by one signature if it is there, and else by another way. */
const either =
  (scheme: Scheme, otherwise: Steps["verifies"]): Steps["verifies"] =>
  (request, own) =>
    has(request, scheme) ? isSigned(request, { ...own, scheme }) : otherwise(request, own);

/** Looks at a signature, and compares nothing. */
const hasForm =
  (scheme: Scheme): Steps["verifies"] =>
  (request, own) =>
    digestsIn(request, scheme).length > 0 && own.isNear(ageAt(Number(request.headers[scheme.timestamp])));

/** As a function of a framework's parser of JSON, beside its other parsers. */
const trustsContent = (type: RegExp): Partial<Steps> => ({ trusts: ({ headers }) => type.test(String(headers["content-type"])) });

const written = (body: Buffer): Buffer => Buffer.from(JSON.stringify(JSON.parse(body.toString())));

const FIELDS = new Set(["id", "type", "created_at", "brand_id", "test", "dashboard_url", "data"]);

const refusingWith =
  (refusal: number): Steps["respond"] =>
  (status) =>
    status === 401 ? refusal : status;

/** Receivers as people write them. Most have one mistake. */
const RECEIVERS = {
  // Right ones.
  "keeps every rule": {},
  "verifies webhook-signature": { scheme: STANDARD },
  "verifies either signature": { verifies: either(OWN, (request, own) => isSigned(request, { ...own, scheme: STANDARD })) },
  "requires both signatures": { verifies: (request, own) => isSigned(request, own) && isSigned(request, { ...own, scheme: STANDARD }) },
  "takes no more than a minute": { isNear: (age) => Math.abs(age) <= 60 },
  "refuses with 400": { respond: (status) => (status === 204 ? 200 : 400) },
  "knows repetitions before it verifies": { remembers: "once processed, before verifying" },
  // Right as well, or harmless: a person may look.
  "reads the body alone": { ignoresHeader: true },
  "takes every prefix": { scheme: { ...OWN, form: /^\w+=([0-9a-f]{64})$/ } },
  "remembers events by attempt": { key: ({ event, headers }) => `${event.id} ${String(headers["x-service-attempt"])}` },
  "remembers events by webhook-id": { key: ({ headers }) => String(headers["webhook-id"]) },
  "chooses what to do by the header": {
    ignoresHeader: true,
    isForm: ({ headers, event }) => RIGHT.types?.has(String(headers["x-service-event"] ?? event.type)) === true,
  },
  "knows its brand": { isForm: ({ event }) => event.brand_id === "brd_mine" },
  "is starting": { respond: (status, count) => (count === 1 ? 503 : status) },
  "refuses while it works": { workMs: 30 },
  "limits while it works": { workMs: 30, respond: (status) => (status === 503 ? 429 : status) },
  throws: { respond: refusingWith(500) },
  "throws at unknown types": { respond: (status) => (status === 422 ? 500 : status) },

  // These refuse what is right.
  "decodes the secret": { scheme: { ...OWN, key: STANDARD.key } },
  redirects: { send: (response) => void response.writeHead(301, { location: "/elsewhere" }).end() },
  "switches protocols": {
    send: ({ socket }) => void socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  },
  "never ends its response": { send: (response) => void response.writeHead(200).write("working") },
  "serialises again": { signed: (body, timestamp) => [[timestamp, written(body)]] },
  "refuses unknown fields": { isForm: ({ event }) => Object.keys(event).every((name) => FIELDS.has(name)) },
  "takes 10 KiB": { bytesMax: 10_240 },
  "knows one secret": { secrets: (secrets) => secrets.slice(0, 1) },
  "refuses repetitions": { repeated: 409 },
  "refuses the same signature": { key: ({ headers }) => String(headers["x-service-signature"]), repeated: 409 },
  "takes first attempts alone": { isForm: ({ headers }) => headers["x-service-attempt"] === "1" },
  "remembers forgeries": { remembers: "before verifying", repeated: 409 },

  // These accept forgeries, which a single request shows.
  "compares the first half": { equals: (given, digest) => given.subarray(0, 16).equals(digest.subarray(0, 16)) },
  "compares numbers": { equals: (given, digest) => Number(`0x${given.toString("hex")}`) === Number(`0x${digest.toString("hex")}`) },
  "compares the last characters": { equals: (given, digest) => given.subarray(-20).equals(digest.subarray(-20)) },
  "has an empty secret, too": { secrets: (secrets) => `${secrets.join(",")},`.split(",") },
  "compares only webhook-signature": { verifies: either(STANDARD, hasForm(OWN)) },
  "compares only X-Service-Signature": {
    verifies: either(OWN, (request, own) => request.headers["webhook-id"] !== undefined && hasForm(STANDARD)(request, own)),
  },
  "ignores algorithms that it does not know": {
    verifies: (request, own) => /^(?!sha256)\w+=/.test(String(request.headers["x-service-signature"])) || isSigned(request, own),
  },
  "verifies first attempts alone": {
    trusts: ({ headers }) => headers["x-service-attempt"] !== "1" && Math.abs(ageAt(Number(headers["x-service-timestamp"]))) <= 300,
  },
  "verifies no settled campaigns": { trusts: ({ event }) => event.type === "campaign.settled" },
  "verifies no approved submissions": { trusts: ({ event }) => event.type === "submission.approved" },
  "verifies no rejected submissions": { trusts: ({ event }) => event.type === "submission.rejected" },
  "verifies no forms": trustsContent(/^application\/x-www-form-urlencoded/),
  "verifies no forms of parts": trustsContent(/^multipart\//),
  "verifies no text": trustsContent(/^text\//),
  "verifies only what is signed": {
    trusts: (request) => !has(request, OWN) && Math.abs(ageAt(Number(request.headers["x-service-timestamp"]))) <= 300,
  },
  "verifies only what has a time": { trusts: (request) => has(request, OWN) && request.headers["x-service-timestamp"] === undefined },
  "verifies only what has an id": {
    verifies: either(
      OWN,
      (request, own) =>
        has(request, STANDARD) && (request.headers["webhook-id"] === undefined || isSigned(request, { ...own, scheme: STANDARD })),
    ),
  },
  "verifies only what has headers": { trusts: (request) => names(request).length === 0 },
  "accepts if none of the signatures is wrong": {
    verifies: (request, own) =>
      has(request, OWN) &&
      String(request.headers["x-service-signature"])
        .split(" ")
        .filter((text) => text !== "")
        .every((text) => isSigned({ ...request, headers: { ...request.headers, "x-service-signature": text } }, own)),
  },
  "compares what is there": {
    scheme: { ...OWN, form: /^sha256=([0-9a-f]+)$/ },
    equals: (given, digest) => given.equals(digest.subarray(0, given.length)),
  },
  "compares the end": {
    scheme: { ...OWN, form: /^sha256=([0-9a-f]+)$/ },
    equals: (given, digest) => given.equals(digest.subarray(-given.length)),
  },
  "accepts what it cannot decode": {
    verifies: (request, own) => /^sha256=.*[^0-9a-f]/.test(String(request.headers["x-service-signature"])) || isSigned(request, own),
  },
  // A comparison with NaN is false.
  "compares with a timestamp that is no number": { isTimestamp: () => true, isNear: (age) => !(Math.abs(age) > 300) },
  "takes ten minutes": { isNear: (age) => age > -300 && age < 600 },
  // As timedelta.seconds of Python.
  "compares the time of the day": { isNear: (age) => ((age % 86_400) + 86_400) % 86_400 <= 300 },
  "takes retries at any time": {
    verifies: (request, own) => isSigned(request, request.headers["x-service-attempt"] === "1" ? own : { ...own, isNear: () => true }),
  },
  "compares the time of webhook-signature alone": {
    verifies: either(STANDARD, (request, own) => isSigned(request, { ...own, isNear: () => true })),
  },
  "compares the time of X-Service-Signature alone": {
    verifies: either(OWN, (request, own) => isSigned(request, { ...own, scheme: STANDARD, isNear: () => true })),
  },
  "compares X-Service-Timestamp, and verifies webhook-signature": {
    scheme: STANDARD,
    time: ({ headers }) => Number(headers["x-service-timestamp"]),
  },
  "compares webhook-timestamp, and verifies X-Service-Signature": { time: ({ headers }) => Number(headers["webhook-timestamp"]) },
  "takes requests of the future": { isNear: (age) => age < 300 },
  "takes an hour ahead": { isNear: (age) => age < 300 && age > -3_600 },
  "tries other timestamps": {
    signed: (body, timestamp) => [-60, 0, 60].map((seconds) => [String(Number(timestamp) + seconds), body] as const),
  },
  "verifies what it has parsed, too": {
    isForm: ({ body }) => body.at(-1) === "}".charCodeAt(0),
    signed: (body, timestamp) => [body, written(body)].map((each) => [timestamp, each] as const),
  },
  "converts line ends": { signed: (body, timestamp) => [[timestamp, Buffer.from(body.toString().replaceAll("\r\n", "\n"))]] },
  "trims the body": { signed: (body, timestamp) => [[timestamp, Buffer.from(body.toString().trim())]] },
  "takes every type": { types: undefined },
  "takes types by family": { types: { has: (type) => /^(payout|campaign|submission)\./.test(type) } },
  "trusts the header": { ignoresHeader: true, type: ({ headers }) => String(headers["x-service-event"]) },

  // These accept many.
  "compares nothing": { equals: () => true },
  "does not wait for the verification": { verifies: async (request, own) => isSigned(request, own) },
  "says no with 200": { respond: () => 200 },
  "trusts the user agent": { trusts: ({ headers }) => headers["user-agent"]?.startsWith("BrandRecords-Webhooks/") === true },
  "lets tests through": { trusts: ({ event }) => event.test },
  "takes old requests": { isNear: (age) => age > -300 },
  "takes milliseconds for seconds": { isNear: (age) => Math.abs(age) <= 300_000 },
  "compares the time of the event": { time: ({ event }) => Date.parse(event.created_at) / 1_000 },
  "takes what it has seen for processed": { remembers: "before verifying" },
  "refuses with 410": { respond: refusingWith(410) },
  "drops the connection": {
    send: (response, status) => (status === 401 ? void response.destroy() : RIGHT.send(response, status)),
  },

  // With these, or with what is before them, a refusal says nothing. Eleven requests are to be accepted.
  "accepts everything, and is limited": { trusts: () => true, respond: (_, count) => (count > 11 ? 429 : 204) },
  "accepts everything, and then nothing": { trusts: () => true, respond: (_, count) => (count > 11 ? 401 : 204) },
  "accepts everything, every other time": { trusts: () => true, respond: (_, count) => (count % 2 === 0 ? 403 : 204) },
  "is limited from the first request on": { respond: () => 429 },
  "is limited in the middle": { respond: (status, count) => (count > 29 ? 429 : status) },
  "is behind a firewall": { respond: (status, _, refusals) => (refusals > 15 ? 403 : status) },
  "is behind a limiter that names the time": {
    respond: (status, count) => (count > 29 ? 403 : status),
    send: (response, status) => void response.writeHead(status, status === 403 ? { "retry-after": "30" } : {}).end(),
  },
  "is away in the middle": { respond: (status, count) => (count > 29 ? 502 : status) },
  "is replaced in the middle": { respond: (status, count) => (count === 31 ? 502 : status) },
} satisfies Record<string, Partial<Steps>>;

export type Receiver = keyof typeof RECEIVERS;

export interface FlawedReceiver {
  readonly url: string;
  /** Paths that were requested. */
  readonly paths: readonly string[];
  stop(): Promise<void>;
}

/** Starts a receiver. @param secrets the active and the next */
export async function startFlawedReceiver(
  secrets: readonly [string, string],
  name: Receiver = "keeps every rule",
): Promise<FlawedReceiver> {
  const own: Steps = { ...RIGHT, ...RECEIVERS[name] };
  const seen = new Set<string>();
  const working = new Set<string>();
  const paths: string[] = [];
  let refusals = 0;

  async function statusFor(request: Request): Promise<number> {
    if (request.body.length > own.bytesMax) return 413;
    const key = own.key(request);
    if (own.remembers !== "after verifying" && seen.has(key)) return own.repeated;
    if (own.remembers === "before verifying") seen.add(key);
    const isSame = own.ignoresHeader || request.headers["x-service-event"] === request.event.type;
    if (!own.trusts(request) && !(own.verifies(request, own) && isSame)) return 401;
    if (own.types?.has(own.type(request)) === false || !own.isForm(request)) return 422;
    if (own.remembers === "after verifying" && seen.has(key)) return own.repeated;
    if (working.has(key)) return 503;
    if (own.workMs > 0) {
      working.add(key);
      await wait(own.workMs);
      working.delete(key);
    }
    seen.add(key);
    return 204;
  }

  const server = createServer((message, response) => {
    paths.push(message.url ?? "");
    const count = paths.length;
    void buffer(message)
      .then(async (body) => {
        const { "content-type": type = "" } = message.headers;
        const isForm = /form/.test(type);
        const form = isForm ? await new Response(body, { headers: { "Content-Type": type } }).formData() : [];
        const event = (isForm ? Object.fromEntries(form) : JSON.parse(body.toString())) as Request["event"];
        const status = await statusFor({ secrets, headers: message.headers, body, event });
        if (status === 401) refusals += 1;
        own.send(response, own.respond(status, count, refusals));
      })
      .catch(() => own.send(response, 500));
  });

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    paths,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
