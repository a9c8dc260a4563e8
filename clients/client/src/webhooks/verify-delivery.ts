import type { BrandEvent } from "../generated/api.ts";
import { DeliveryError } from "./delivery-error.ts";
import type { UnknownEvent } from "./events.ts";
import { HEADER_WORD, headerNames } from "./header-names.ts";
import type { Secrets } from "./secrets.ts";
import { bytesOf, decodeBase64, decodeHex, signedBytes, signingKeys, type Bytes, type SigningKey } from "./signing-keys.ts";

const TOLERANCE_SECONDS = 300;
/** The service sends two during a rotation. Each costs a computation for every secret. */
const SIGNATURES_MAX = 8;

export interface VerifyOptions {
  /** Seconds by which a timestamp may differ from the clock, either way. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The time, as Unix time in seconds. Default: the clock. */
  readonly now?: number | undefined;
  /** Word in the names of the service's own headers. Default: `Service`. */
  readonly headerWord?: string | undefined;
}

/** The headers of a request, as a `Headers` or as Node.js has them. Names may be in any case. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A signature that a request carries, and what it covers besides the body. */
interface Signature {
  readonly timestamp: string;
  readonly prefix: string;
  readonly key: "own" | "standard";
  readonly digests: readonly Bytes[];
}

/**
 * Returns the event of a delivery that the service signed, with either of its two signatures, by one of the secrets, at most five
 * minutes ago. Compares in constant time.
 *
 * The event may have come before: process each `event.id` once. It may be of an unknown type: see `isKnownEvent`.
 *
 * @param rawBody the bytes as they came. A body that was parsed and written again has others
 * @throws DeliveryError if it is not verified
 * @throws TypeError if a secret is none, or if the body was parsed
 */
export async function verifyDelivery(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: DeliveryHeaders,
  secrets: Secrets,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() / 1_000, headerWord = HEADER_WORD }: VerifyOptions = {},
): Promise<BrandEvent | UnknownEvent> {
  const keys = await signingKeys(secrets);
  const body = readBody(rawBody);
  const names = headerNames(headerWord);
  const header = readHeaders(headers);
  const signatures = [ownSignature(header, names), standardSignature(header, names)].filter((signature) => signature !== undefined);
  if (signatures.length === 0) throw new DeliveryError("missing_header", `neither ${names.signature} nor ${names.standardSignature}`);
  for (const { timestamp } of signatures) {
    if (Math.abs(now - Number(timestamp)) <= toleranceSeconds) continue;
    throw new DeliveryError("timestamp_outside_window", `the timestamp is more than ${toleranceSeconds} s from this receiver's clock`);
  }
  if (!(await isSigned(body, signatures, keys))) {
    throw new DeliveryError("wrong_signature", "no secret made this signature over these bytes");
  }
  const event = readEvent(body);
  requireSame(header(names.type), event.type, names.type);
  requireSame(header(names.standardId), event.id, names.standardId);
  return event;
}

function readBody(rawBody: unknown): Uint8Array {
  if (typeof rawBody === "string") return bytesOf(rawBody);
  if (ArrayBuffer.isView(rawBody)) return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  if (Object.prototype.toString.call(rawBody) === "[object ArrayBuffer]") return new Uint8Array(rawBody as ArrayBuffer);
  throw new TypeError("the raw body must be bytes or text: read it before anything parses it");
}

type ReadHeader = (name: string) => string | undefined;

/** Returns a function that returns a header's value, or undefined. It throws if the header is repeated. */
function readHeaders(headers: DeliveryHeaders): ReadHeader {
  if (typeof (headers as Headers).get === "function") return (name) => (headers as Headers).get(name) ?? undefined;
  const values = new Map<string, string[]>();
  for (const [name, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), ...(typeof value === "string" ? [value] : value)]);
  }
  return (name) => {
    const [value, ...others] = values.get(name.toLowerCase()) ?? [];
    if (others.length > 0) throw malformed(name);
    return value;
  };
}

const malformed = (name: string): DeliveryError => new DeliveryError("malformed_header", `${name} is malformed`);

type Names = ReturnType<typeof headerNames>;

/** `sha256=` and hexadecimal digits, over `timestamp.body`. */
function ownSignature(header: ReadHeader, names: Names): Signature | undefined {
  const value = header(names.signature);
  if (value === undefined) return undefined;
  required(header, names.type);
  const timestamp = readTimestamp(header, names.timestamp);
  const digest = /^sha256=([0-9a-f]{64})$/.exec(value)?.[1];
  if (digest === undefined) throw malformed(names.signature);
  return { timestamp, prefix: `${timestamp}.`, key: "own", digests: [decodeHex(digest)] };
}

/**
 * `v1,` and base64, over `id.timestamp.body`; several during a rotation, separated by spaces. Those of versions to come are skipped.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
function standardSignature(header: ReadHeader, names: Names): Signature | undefined {
  const value = header(names.standardSignature);
  if (value === undefined) return undefined;
  const id = required(header, names.standardId);
  const timestamp = readTimestamp(header, names.standardTimestamp);
  const encoded = value.split(" ").flatMap((each) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(each)?.[1] ?? []);
  if (encoded.length === 0 || encoded.length > SIGNATURES_MAX) throw malformed(names.standardSignature);
  return { timestamp, prefix: `${id}.${timestamp}.`, key: "standard", digests: encoded.map(decodeBase64) };
}

function required(header: ReadHeader, name: string): string {
  const value = header(name);
  if (value === undefined) throw new DeliveryError("missing_header", `${name} is missing`);
  return value;
}

function readTimestamp(header: ReadHeader, name: string): string {
  const timestamp = required(header, name);
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw malformed(name);
  return timestamp;
}

/** Tries every key with every signature: WebCrypto compares in constant time. */
async function isSigned(body: Uint8Array, signatures: readonly Signature[], keys: readonly SigningKey[]): Promise<boolean> {
  const checks = signatures.flatMap(({ prefix, key, digests }) => {
    const signed = signedBytes(prefix, body);
    return keys.flatMap((keyPair) => digests.map((digest) => crypto.subtle.verify("HMAC", keyPair[key], digest, signed)));
  });
  return (await Promise.all(checks)).includes(true);
}

function readEvent(body: Uint8Array): BrandEvent | UnknownEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new DeliveryError("invalid_body", "the body is not JSON in UTF-8");
  }
  const { id, type, data } = (event ?? {}) as { id?: unknown; type?: unknown; data?: unknown };
  if (typeof id === "string" && typeof type === "string" && typeof data === "object" && data !== null) return event as UnknownEvent;
  throw new DeliveryError("invalid_body", "the body is not an event: it lacks id, type or data");
}

/** Headers that name the event are not covered by every signature: one that differs from the body was changed on its way. */
function requireSame(value: string | undefined, signed: string, name: string): void {
  if (value !== undefined && value !== signed) throw new DeliveryError("header_mismatch", `${name} differs from the signed body`);
}
