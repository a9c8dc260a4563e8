import { AppError } from "@brand-records/errors";
import type { Parts } from "../parts.ts";
import { findPrincipal } from "../storage/keys.ts";
import { keyHash } from "./key-hash.ts";
import type { Principal } from "./key.ts";

/** @throws AppError `invalid_key`, whether unknown, revoked or of another environment: callers learn nothing from it */
export async function verifyKey(parts: Parts, keyDigest: Uint8Array): Promise<Principal> {
  const hashes = parts.peppers.map((pepper) => keyHash(keyDigest, pepper));
  const principal = await findPrincipal(parts.db, hashes, parts.environment);
  if (principal === undefined) throw new AppError("invalid_key", "This key is not valid here");
  parts.noteUse(principal.key_id);
  return principal;
}
