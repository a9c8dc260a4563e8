import { HEADER_WORD, headerNames } from "./header-names.ts";
import type { Secrets } from "./secrets.ts";
import { bytesOf, encodeBase64, encodeHex, signedBytes, signingKeys } from "./signing-keys.ts";

export { headerNames } from "./header-names.ts";
export { readSecrets } from "./secrets.ts";

export interface SignOptions {
  /** The event's id. Default: that of the body. */
  readonly id?: string | undefined;
  /** The event's type. Default: that of the body. */
  readonly type?: string | undefined;
  /** When it is signed: Unix time in seconds. Default: now. */
  readonly timestamp?: number | undefined;
  /** Default: 1. */
  readonly attempt?: number | undefined;
  /** Word in the header names. Default: `Service`. */
  readonly headerWord?: string | undefined;
}

/**
 * Returns the headers with which the service sends a delivery, to test a receiver with. The first secret signs
 * `X-Service-Signature`, each of them `webhook-signature`, as during a rotation.
 *
 * @param rawBody the exact bytes that are sent
 * @throws TypeError if a secret is none, or if the body names neither id nor type and the options do not either
 */
export async function signDelivery(
  rawBody: string | Uint8Array,
  secrets: Secrets,
  options: SignOptions = {},
): Promise<Record<string, string>> {
  const body = typeof rawBody === "string" ? bytesOf(rawBody) : rawBody;
  const { id, type } = options.id !== undefined && options.type !== undefined ? options : { ...namesIn(body), ...options };
  if (typeof id !== "string" || typeof type !== "string") throw new TypeError("the body has no id and type: give them as options");
  const { timestamp = Math.floor(Date.now() / 1_000), attempt = 1, headerWord = HEADER_WORD } = options;
  const keys = await signingKeys(secrets);
  const sign = async (key: CryptoKey, prefix: string) => new Uint8Array(await crypto.subtle.sign("HMAC", key, signedBytes(prefix, body)));
  const own = encodeHex(await sign((keys[0] as (typeof keys)[number]).own, `${timestamp}.`));
  const standard = await Promise.all(keys.map(async (key) => `v1,${encodeBase64(await sign(key.standard, `${id}.${timestamp}.`))}`));
  const names = headerNames(headerWord);
  return {
    "Content-Type": "application/json",
    "User-Agent": "BrandRecords-Webhooks/1.0",
    [names.type]: type,
    [names.timestamp]: String(timestamp),
    [names.attempt]: String(attempt),
    [names.signature]: `sha256=${own}`,
    [names.standardId]: id,
    [names.standardTimestamp]: String(timestamp),
    [names.standardSignature]: standard.join(" "),
  };
}

/** Returns what the body says of itself; nothing if it is not a JSON object. */
function namesIn(body: Uint8Array): { id?: unknown; type?: unknown } {
  try {
    const { id, type } = JSON.parse(new TextDecoder().decode(body)) as { id?: unknown; type?: unknown };
    return { id, type };
  } catch {
    return {};
  }
}
