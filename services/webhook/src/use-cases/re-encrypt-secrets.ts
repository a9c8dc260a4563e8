import type { Database, Sql } from "@brand-records/postgres";
import { heldKey, requireSharedKey } from "@brand-records/service-runtime";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { openSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { idsInUse, replaceSealed, secretsUnderOthers } from "../storage/secret-keys.ts";

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
