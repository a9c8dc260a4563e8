import { ConfigError } from "@brand-records/config";
import type { Database, Sql, Transaction } from "@brand-records/postgres";
import { heldKey, newestSharedKey, requireSharedKey, type HeldKey } from "@brand-records/service-runtime";
import { seal, unseal, type SecretKey, type SecretKeys } from "../domain/secret-keys.ts";
import { addProofs, idsInUse, listProofs, replaceSealed, secretsUnderOthers } from "../storage/secret-keys.ts";
import { openSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";

/** Sealed once under each key. A key that opens it is the same key. */
const KNOWN_TEXT = "brand-records receiver secrets";

const ownerOf = ({ id }: SecretKey): string => `webhook.secret_keys/${id}`;

/**
 * Checks the secret keys at the start, so that a missing or wrong key is not found at the first delivery. Remembers new keys,
 * unless any key is missing or wrong. Any number of processes may start at the same time.
 *
 * @throws ConfigError naming each problem and its fix
 */
export async function requireSecretKeys(db: Database, keys: SecretKeys): Promise<void> {
  await db.transaction(async (sql) => {
    await addProofs(
      sql,
      keys.map((key) => ({ id: key.id, proof: seal(key, ownerOf(key), KNOWN_TEXT) })),
    );
    const proofs = new Map((await listProofs(sql)).map(({ id, proof }) => [id, proof]));
    const configured = new Set(keys.map(({ id }) => id));
    const missing = (await idsInUse(sql)).filter((id) => !configured.has(id));
    const wrong = keys.filter((key) => !opens(key, proofs.get(key.id)));
    const problems = [...missing.map(missingKey), ...wrong.map(wrongKey)];
    // Rolls back: no new key is remembered beside a missing or wrong one.
    if (problems.length > 0) throw new ConfigError(problems);
  });
}

function opens(key: SecretKey, proof: Buffer | undefined): boolean {
  if (proof === undefined) return false;
  try {
    return unseal(key, ownerOf(key), proof) === KNOWN_TEXT;
  } catch {
    return false;
  }
}

const missingKey = (id: number): string =>
  `RECEIVER_SECRET_KEYS: key ${id} is missing, and secrets of receivers are sealed under it: put ${id}:… back, unchanged, beside the present keys`;

const wrongKey = ({ id }: SecretKey): string =>
  `RECEIVER_SECRET_KEYS: key ${id} is not the key ${id} that this database was first started with: put that one back, and give the new key another id`;

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

export interface ReEncrypted {
  readonly secrets: number;
  /** Older keys that are still in use: by next secrets, or by secrets that a process without the newest key made meanwhile. */
  readonly still_in_use: readonly number[];
}

/**
 * Seals every current secret under the newest key, so that older ones can be retired. The secrets themselves stay. Safe to interrupt and
 * repeat, and beside processes that have the newest key.
 *
 * Next secrets stay as they are: the bytes of one identify it when a test is accepted, and changing them would undo the acceptance.
 *
 * @throws ConfigError if a living process lacks the newest key: it could no longer sign
 * @throws SealBroken if a secret does not open; the batches of 100 before it are done
 */
export async function reEncryptSecrets(db: Database, keys: SecretKeys): Promise<ReEncrypted> {
  const [newest] = keys;
  let secrets = 0;
  let afterId = "";
  const sealBatch = async (sql: Sql): Promise<string | undefined> => {
    // Each time: a process with older settings may have started since the last batch. None starts within one.
    await requireSharedKey(sql, "webhook", "RECEIVER_SECRET_KEYS", heldKey(newest.id, newest.bytes));
    const batch = await secretsUnderOthers(sql, newest.id, afterId);
    for (const stored of batch) {
      const resealed = sealSigningSecret(newest, stored.id, openSigningSecret(keys, stored.id, stored));
      if (await replaceSealed(sql, stored, resealed)) secrets++;
    }
    return batch.at(-1)?.id;
  };
  for (let last = await db.transaction(sealBatch); last !== undefined; last = await db.transaction(sealBatch)) afterId = last;
  return { secrets, still_in_use: (await idsInUse(db)).filter((id) => id !== newest.id) };
}
