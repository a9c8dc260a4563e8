import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Holds in both directions, as clocks may be early or late; an older request may be a stolen one, replayed. */
const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

export const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

export interface ReceivedDelivery {
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: Buffer;
}

export interface Verification {
  /** Why it must be refused; undefined if X-Service-Signature matches one of the secrets and the timestamp is near. */
  readonly refusedFor: string | undefined;
  /** Whether a Standard Webhooks library would accept it. */
  readonly standardMatches: boolean;
  /** Complete and well-formed, but signed with none of the secrets. */
  readonly byOther: boolean;
}

/**
 * Verifies a delivery as a receiver must.
 *
 * @param secrets `whsec_…`, as shown; during a rotation the current one and the next one
 * @param headerWord the word in the header names, `X-<word>-Signature`
 * @param nowMs milliseconds since the epoch
 */
export function verifyDelivery(delivery: ReceivedDelivery, secrets: readonly string[], headerWord: string, nowMs: number): Verification {
  const refusedFor = refusalOf(delivery, secrets, headerWord.toLowerCase(), nowMs);
  return { refusedFor, standardMatches: standardMatches(delivery, secrets, nowMs), byOther: refusedFor === BY_OTHER };
}

const BY_OTHER = "its signature does not match";

function refusalOf({ headers, body }: ReceivedDelivery, secrets: readonly string[], headerWord: string, nowMs: number): string | undefined {
  const timestamp = headers[`x-${headerWord}-timestamp`];
  const signature = headers[`x-${headerWord}-signature`];
  if (typeof timestamp !== "string" || typeof signature !== "string") return "its timestamp or signature is missing";
  if (!/^\d{1,12}$/.test(timestamp) || !/^sha256=[0-9a-f]{64}$/.test(signature)) return "its timestamp or signature is malformed";
  const given = Buffer.from(signature.slice("sha256=".length), "hex");
  const matches = (secret: string): boolean =>
    timingSafeEqual(createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest(), given);
  if (!secrets.some(matches)) return BY_OTHER;
  return isNear(timestamp, nowMs) ? undefined : "its timestamp is more than five minutes away";
}

/** During a rotation there is a signature for each secret; one that matches is enough. */
function standardMatches({ headers, body }: ReceivedDelivery, secrets: readonly string[], nowMs: number): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (!/^\d{1,12}$/.test(timestamp) || !isNear(timestamp, nowMs)) return false;
  const expected = secrets.map((secret) =>
    createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64"))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest(),
  );
  return signatures.split(" ").some((signature) => {
    const [version, digest = ""] = signature.split(",");
    const given = Buffer.from(digest, "base64");
    return version === "v1" && expected.some((one) => given.length === one.length && timingSafeEqual(given, one));
  });
}

const isNear = (timestamp: string, nowMs: number): boolean => Math.abs(nowMs / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS;
