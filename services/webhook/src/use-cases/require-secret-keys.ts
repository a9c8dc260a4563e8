import { ConfigError } from "@brand-records/config";
import type { Database } from "@brand-records/postgres";
import { seal, unseal } from "../domain/sealing.ts";
import type { SecretKey, SecretKeys } from "../domain/secret-keys.ts";
import { addProofs, idsInUse, listProofs } from "../storage/secret-keys.ts";

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
