import { readSecrets, type Secrets } from "./secrets.ts";

/** What a secret signs with. */
export interface SigningKey {
  /** Keyed with the bytes of the whole secret as it was shown. */
  readonly own: CryptoKey;
  /** Keyed with the bytes that it encodes. */
  readonly standard: CryptoKey;
}

/** @throws TypeError if a secret is none */
export const signingKeys = (secrets: Secrets): Promise<SigningKey[]> => Promise.all(readSecrets(secrets).map(signingKey));

async function signingKey(secret: string): Promise<SigningKey> {
  const encoded = secret.slice("whsec_".length);
  const [own, standard] = await Promise.all([importKey(bytesOf(secret)), importKey(decodeBase64(encoded))]);
  return { own, standard };
}

const importKey = (bytes: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);

/** Bytes in memory of their own, as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

export const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);

/** Returns the bytes of the prefix, followed by the body. */
export function signedBytes(prefix: string, body: Uint8Array): Bytes {
  const start = bytesOf(prefix);
  const all = new Uint8Array(start.length + body.length);
  all.set(start);
  all.set(body, start.length);
  return all;
}

export const decodeBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

export const encodeBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

export const decodeHex = (text: string): Bytes => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

export const encodeHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
