import { z } from "zod";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Encrypts receivers' signing secrets, so that a stolen table alone signs nothing. */
export interface SecretKey {
  readonly id: number;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

/** Newest first: the newest seals, each opens. */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]];

/** Nine digits fit the integer column of ids. 32 bytes are 43 characters and, usually, one `=`. */
const PAIR = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=?)$/;

/** Parses comma-separated `id:base64` pairs; the newest (highest id) is first. Adds problems to zod's context. */
export function parseSecretKeys(text: string, context: z.core.$RefinementCtx): SecretKeys {
  const pairs = text.split(",").map((pair) => PAIR.exec(pair.trim()));
  const keys = pairs.flatMap((pair) => (pair === null ? [] : [{ id: Number(pair[1]), bytes: Buffer.from(pair[2] ?? "", "base64") }]));
  const [newest, ...older] = keys.toSorted((a, b) => b.id - a.id);
  const ids = new Set(keys.map(({ id }) => id));
  if (newest === undefined || keys.length < pairs.length || ids.size < keys.length) {
    context.addIssue({
      code: "custom",
      message: "must be id:base64 pairs of exactly 32 bytes, comma-separated, each id a whole number of at least 1 that occurs once",
    });
    return z.NEVER;
  }
  return [newest, ...older];
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text cannot be opened: another key, another owner, or changed bytes. Reveals nothing of the content. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
  /** The id of the key under which it is sealed. */
  readonly keyId: number;

  constructor(keyId: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.keyId = keyId;
  }
}

/**
 * Returns nonce, ciphertext and tag in one buffer. Opens only for the same owner: moved to another row, it is worthless.
 *
 * @param owner such as a receiver's id; authenticated, not stored
 * @param nonce 12 bytes, never used twice under a key. Default: random; given only where a test needs a reproducible result.
 */
export function seal(key: SecretKey, owner: string, text: string, nonce: Buffer = randomBytes(NONCE_BYTES)): Buffer {
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(owner));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** @throws SealBroken */
export function unseal(key: SecretKey, owner: string, sealed: Buffer): string {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new SealBroken(key.id, `the text sealed under key ${key.id} is too short`);
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch (error) {
    throw new SealBroken(key.id, `the text sealed for ${owner} does not open under key ${key.id}`, { cause: error });
  }
}
