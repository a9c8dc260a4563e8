import { createHmac } from "node:crypto";

/** A key that a process holds, as others may know it. */
export interface HeldKey {
  readonly id: number;
  /** Tells the key from another under the same id, and reveals nothing of it. */
  readonly fingerprint: string;
}

/** Text that does not have 32 bytes: peppers hash what has 32, and a fingerprint must never equal the hash of an API key. */
const KNOWN_TEXT = "brand-records: fingerprint of a key that a process holds";

/** @param bytes 32 random bytes or more: a weaker key could be guessed from its fingerprint */
export const heldKey = (id: number, bytes: Buffer): HeldKey => ({
  id,
  fingerprint: createHmac("sha256", bytes).update(KNOWN_TEXT).digest("hex"),
});

export const isSameKey = (a: HeldKey, b: HeldKey): boolean => a.id === b.id && a.fingerprint === b.fingerprint;
