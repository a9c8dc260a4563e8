import { createHmac } from "node:crypto";
import type { z } from "zod";

/** Secret mixed into the hash of every key, so that a stolen table alone verifies no key. */
export interface Pepper {
  readonly version: number;
  readonly bytes: Buffer;
}

/** Parses comma-separated `version:base64` pairs. Returns the newest first; problems go to zod's context. */
export function parsePeppers(text: string, context: z.core.$RefinementCtx): readonly [Pepper, ...Pepper[]] {
  const peppers = text.split(",").map((pair) => {
    const [, version, base64] = /^(\d{1,9}):([A-Za-z0-9+/]+={0,2})$/.exec(pair.trim()) ?? [];
    return { version: Number(version), bytes: Buffer.from(base64 ?? "", "base64") };
  });
  const [newest, ...older] = peppers.toSorted((a, b) => b.version - a.version);
  const versions = new Set(peppers.map((pepper) => pepper.version));
  if (newest === undefined || versions.size < peppers.length || peppers.some(({ bytes }) => bytes.length < 32)) {
    context.addIssue({
      code: "custom",
      message: "must be version:base64 pairs of at least 32 bytes, comma-separated, each version once",
    });
    return [{ version: 0, bytes: Buffer.alloc(0) }];
  }
  return [newest, ...older];
}

/**
 * Returns the 32 bytes under which a key is stored and looked up.
 *
 * @param keyDigest SHA-256 of the key
 */
export function keyHash(keyDigest: Uint8Array, pepper: Pepper): Buffer {
  return createHmac("sha256", pepper.bytes).update(keyDigest).digest();
}
