import { createHmac } from "node:crypto";

export interface SignedRequest {
  readonly eventId: string;
  readonly eventType: string;
  /** The raw body. */
  readonly body: Buffer;
  /** Unix time. */
  readonly timestampSeconds: number;
  readonly attempt: number;
  /** `whsec_…`: the current secret and, during a rotation, the next one. */
  readonly secrets: readonly [string, ...string[]];
  /** In the names of our headers: `X-<headerWord>-Signature`. */
  readonly headerWord: string;
}

const PREFIX = "whsec_";

/**
 * Returns headers with two kinds of signature. Ours uses the current secret: HMAC-SHA256, keyed with the bytes of the whole
 * secret as it was shown, over `timestamp.body`. That of Standard Webhooks uses each secret: keyed with the bytes it encodes,
 * over `id.timestamp.body`.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders({
  eventId,
  eventType,
  body,
  timestampSeconds,
  attempt,
  secrets,
  headerWord,
}: SignedRequest): Record<string, string> {
  const timestamp = String(timestampSeconds);
  const own = createHmac("sha256", secrets[0]).update(`${timestamp}.`).update(body).digest("hex");
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${eventId}.${timestamp}.`).update(body).digest("base64")}`;
  });
  return {
    [`X-${headerWord}-Event`]: eventType,
    [`X-${headerWord}-Timestamp`]: timestamp,
    [`X-${headerWord}-Signature`]: `sha256=${own}`,
    [`X-${headerWord}-Attempt`]: String(attempt),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}
