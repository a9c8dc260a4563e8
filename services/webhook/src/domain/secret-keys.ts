import { z } from "zod";

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
