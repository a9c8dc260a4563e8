import { ConfigError } from "@brand-records/config";
import type { Database } from "@brand-records/postgres";
import { addProofs, idsInUse, listProofs } from "../storage/secret-keys.ts";
import { seal, unseal } from "./sealing.ts";
import type { SecretKey, SecretKeys } from "./secret-keys.ts";

/** What every key has sealed once: whoever opens it holds the same key. */
const KNOWN_TEXT = "brand-records receiver secrets";

const ownerOf = ({ id }: SecretKey): string => `webhook.secret_keys/${id}`;

/**
 * For the start: a key that is missing or wrong is told now, not at the first delivery. Keys never seen before are kept in
 * mind from here on, unless anything is wrong. Any number of processes may start at once.
 *
 * @throws ConfigError naming each problem and its cure
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
    // Rolls back: keys that came in such company are not taken for good.
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
  `RECEIVER_SECRET_KEYS: key ${id} is missing, and secrets of receivers are sealed under it: put ${id}:… back as it was, beside the keys that are there`;

const wrongKey = ({ id }: SecretKey): string =>
  `RECEIVER_SECRET_KEYS: key ${id} is not the key ${id} this database was first started with: put that one back, and give a new key an id of its own`;
