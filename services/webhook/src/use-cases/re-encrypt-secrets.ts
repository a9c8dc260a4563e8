import type { Database } from "@brand-records/postgres";
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
 * repeat, and beside processes that have the newest key: others could no longer sign.
 *
 * Next secrets stay as they are: the bytes of one identify it when a test is accepted, and changing them would undo the acceptance.
 *
 * @throws SealBroken if a secret does not open; those before it are done
 */
export async function reEncryptSecrets(db: Database, keys: SecretKeys): Promise<ReEncrypted> {
  const [newest] = keys;
  let secrets = 0;
  let afterId = "";
  for (;;) {
    const batch = await secretsUnderOthers(db, newest.id, afterId);
    for (const stored of batch) {
      const resealed = sealSigningSecret(keys, stored.id, openSigningSecret(keys, stored.id, stored));
      if (await replaceSealed(db, stored, resealed)) secrets++;
    }
    const last = batch.at(-1);
    if (last === undefined) break;
    afterId = last.id;
  }
  return { secrets, still_in_use: (await idsInUse(db)).filter((id) => id !== newest.id) };
}
