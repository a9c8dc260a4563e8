import { ConfigError } from "@brand-records/config";
import type { AccountsDependencies } from "../dependencies.ts";
import { countKeysUnderOthers, type KeysUnderPepper } from "../storage/keys.ts";

/**
 * Checks the peppers at the start: without that of a stored key, its requests would get 401 as if the key were revoked. Keys that cannot
 * be used here anyway do not count: revoked ones, and those of another environment.
 *
 * @throws ConfigError naming each missing pepper and its fix
 */
export async function requirePeppers({
  db,
  peppers,
  environment,
}: Pick<AccountsDependencies, "db" | "peppers" | "environment">): Promise<void> {
  const missing = await missingPeppers({ db, peppers, environment });
  if (missing.length > 0) throw new ConfigError(missing.map(missingPepper));
}

/** Returns the peppers that stored keys need and that are not among these. Reads every key. */
export function missingPeppers({
  db,
  peppers,
  environment,
}: Pick<AccountsDependencies, "db" | "peppers" | "environment">): Promise<KeysUnderPepper[]> {
  const versions = peppers.map(({ version }) => version);
  return countKeysUnderOthers(db, versions, environment);
}

const missingPepper = ({ pepperVersion, keys }: KeysUnderPepper): string =>
  `KEY_PEPPERS: pepper ${pepperVersion} is missing, and API keys that are not revoked (${keys}) are stored under it: put ${pepperVersion}:… back, ` +
  "unchanged, beside the present peppers, until those keys are replaced and revoked";
