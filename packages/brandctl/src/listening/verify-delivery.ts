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
  /** Why it is not to be trusted; undefined if X-Service-Signature fits and its time is near. */
  readonly refusedFor: string | undefined;
  /** What any library of Standard Webhooks would find. */
  readonly standardFits: boolean;
}

/**
 * What a receiver has to check before it believes a delivery.
 *
 * @param secret `whsec_…`, as it was shown
 * @param word in the names of the headers: `X-<word>-Signature`
 * @param nowMs milliseconds since the epoch
 */
export function verifyDelivery(delivery: ReceivedDelivery, secret: string, word: string, nowMs: number): Verification {
  return { refusedFor: refusalOf(delivery, secret, word.toLowerCase(), nowMs), standardFits: standardFits(delivery, secret, nowMs) };
}

function refusalOf({ headers, body }: ReceivedDelivery, secret: string, word: string, nowMs: number): string | undefined {
  const timestamp = headers[`x-${word}-timestamp`];
  const signature = headers[`x-${word}-signature`];
  if (typeof timestamp !== "string" || typeof signature !== "string") return "its timestamp or signature is missing";
  if (!/^\d{1,12}$/.test(timestamp) || !/^sha256=[0-9a-f]{64}$/.test(signature)) return "its timestamp or signature is malformed";
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature.slice("sha256=".length), "hex"))) return "its signature does not fit";
  return isNear(timestamp, nowMs) ? undefined : "its timestamp is more than five minutes away";
}

/** During a rotation there is one signature by each secret: one that fits is enough. */
function standardFits({ headers, body }: ReceivedDelivery, secret: string, nowMs: number): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (!/^\d{1,12}$/.test(timestamp) || !isNear(timestamp, nowMs)) return false;
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((signature) => {
    const [version, digest = ""] = signature.split(",");
    const given = Buffer.from(digest, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const isNear = (timestamp: string, nowMs: number): boolean => Math.abs(nowMs / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS;
