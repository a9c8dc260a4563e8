import type { Transaction } from "@brand-records/postgres";
import { heldKey, newestSharedKey, type HeldKey } from "@brand-records/service-runtime";
import type { SecretKey, SecretKeys } from "../domain/secret-keys.ts";

/** The keys as other processes may know them. */
export const heldSecretKeys = (keys: SecretKeys): HeldKey[] => keys.map(({ id, bytes }) => heldKey(id, bytes));

/**
 * Returns the key that seals new secrets: the newest that every living webhook process has, so that each of them can sign.
 *
 * @throws AppError `unavailable` if the processes have no key in common
 */
export async function sharedSecretKey(sql: Transaction, keys: SecretKeys): Promise<SecretKey> {
  const id = await newestSharedKey(sql, "webhook", heldSecretKeys(keys));
  return keys.find((key) => key.id === id) ?? keys[0];
}
