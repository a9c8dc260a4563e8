import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Either way: a clock may be wrong in both directions, and what is older may be a replayed theft. */
const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

export const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

export interface ReceivedDelivery {
  readonly headers: IncomingHttpHeaders;
  /** Raw, before anything was parsed. */
  readonly body: Buffer;
}

export interface Verification {
  /** Why it is not to be trusted; undefined if X-Service-Signature fits by one of the secrets and its time is near. */
  readonly refusedFor: string | undefined;
  /** What any library of Standard Webhooks would find. */
  readonly standardFits: boolean;
  /** Whole and well-formed, and by none of the secrets. */
  readonly byOther: boolean;
}

/**
 * What a receiver must check before it believes a delivery.
 *
 * @param secrets `whsec_…`, as they were shown: during a rotation the one in force and the next one
 * @param word in the names of the headers: `X-<word>-Signature`
 * @param nowMs milliseconds since the epoch
 */
export function verifyDelivery(delivery: ReceivedDelivery, secrets: readonly string[], word: string, nowMs: number): Verification {
  const refusedFor = refusalOf(delivery, secrets, word.toLowerCase(), nowMs);
  return { refusedFor, standardFits: standardFits(delivery, secrets, nowMs), byOther: refusedFor === BY_OTHER };
}

const BY_OTHER = "its signature does not fit";

function refusalOf({ headers, body }: ReceivedDelivery, secrets: readonly string[], word: string, nowMs: number): string | undefined {
  const timestamp = headers[`x-${word}-timestamp`];
  const signature = headers[`x-${word}-signature`];
  if (typeof timestamp !== "string" || typeof signature !== "string") return "its timestamp or signature is missing";
  if (!/^\d{1,12}$/.test(timestamp) || !/^sha256=[0-9a-f]{64}$/.test(signature)) return "its timestamp or signature is malformed";
  const given = Buffer.from(signature.slice("sha256=".length), "hex");
  const fits = (secret: string): boolean =>
    timingSafeEqual(createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest(), given);
  if (!secrets.some(fits)) return BY_OTHER;
  return isNear(timestamp, nowMs) ? undefined : "its timestamp is more than five minutes away";
}

/** During a rotation there is one signature by each secret: one that fits is enough. */
function standardFits({ headers, body }: ReceivedDelivery, secrets: readonly string[], nowMs: number): boolean {
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
