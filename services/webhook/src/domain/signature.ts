import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

export interface UnsignedRequest {
  readonly eventId: string;
  readonly eventType: string;
  readonly timestampSeconds: number;
  readonly attempt: number;
  /** Word in the names of our headers: `X-<headerWord>-Signature`. */
  readonly headerWord: string;
}

export interface SignedRequest extends UnsignedRequest {
  readonly body: Buffer;
  /** The current secret's and, during a rotation, the next one's. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
}

/** What a secret signs with. */
export interface SigningKey {
  /** The bytes of the whole secret as it was shown. */
  readonly own: KeyObject;
  /** The bytes that it encodes. */
  readonly standard: KeyObject;
}

const PREFIX = "whsec_";

/** @param secret `whsec_…` */
export function signingKey(secret: string): SigningKey {
  return { own: createSecretKey(secret, "utf8"), standard: createSecretKey(secret.slice(PREFIX.length), "base64") };
}

const USER_AGENT = "BrandRecords-Webhooks/1.0";

/** Returns every header of a request but its signatures, so that they can be shown. */
export function unsignedHeaders(request: UnsignedRequest, traceparent: string | null): Record<string, string> {
  const headers = { "content-type": "application/json", "user-agent": USER_AGENT, ...eventHeaders(request) };
  return traceparent === null ? headers : { ...headers, traceparent };
}

/** The headers that name the event and the attempt. */
function eventHeaders({ eventId, eventType, timestampSeconds, attempt, headerWord }: UnsignedRequest): Record<string, string> {
  const timestamp = String(timestampSeconds);
  return {
    [`X-${headerWord}-Event`]: eventType,
    [`X-${headerWord}-Timestamp`]: timestamp,
    [`X-${headerWord}-Attempt`]: String(attempt),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
  };
}

/**
 * Returns the signatures of a request, of two kinds. Ours uses the current secret: HMAC-SHA256, keyed with the bytes of the whole
 * secret as it was shown, over `timestamp.body`. That of Standard Webhooks uses each secret: keyed with the bytes it encodes,
 * over `id.timestamp.body`.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(request: SignedRequest): Record<string, string> {
  const { eventId, body, timestampSeconds, keys, headerWord } = request;
  const timestamp = String(timestampSeconds);
  const own = createHmac("sha256", keys[0].own).update(`${timestamp}.`).update(body).digest("hex");
  const standard = keys.map(
    (key) => `v1,${createHmac("sha256", key.standard).update(`${eventId}.${timestamp}.`).update(body).digest("base64")}`,
  );
  return {
    [`X-${headerWord}-Signature`]: `sha256=${own}`,
    "webhook-signature": standard.join(" "),
  };
}
