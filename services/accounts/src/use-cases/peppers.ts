import { ConfigError } from "@brand-records/config";
import type { Sql } from "@brand-records/postgres";
import { heldKey, type HeldKey, newestSharedKey, type StartedService } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Pepper } from "../domain/key.ts";
import { countKeysUnderOthers, type KeysUnderPepper } from "../storage/keys.ts";

type PepperUse = Pick<AccountsDependencies, "db" | "peppers" | "environment">;

/**
 * Announces this process' peppers, after checking that no key in use needs another one, and reports degraded while one does.
 *
 * @returns whether a key that this process does not find may exist nevertheless, stored under a pepper that it lacks: the process was
 * frozen or cut off from the database, and others stored keys meanwhile, or another process has a different pepper under the same version
 * @throws ConfigError naming each missing pepper and its fix
 */
export async function announcePeppers(
  base: Pick<StartedService, "announceKeys" | "reportUnusableKeys">,
  deps: PepperUse,
): Promise<() => boolean> {
  await requirePeppers(deps);
  let missing: readonly number[] = [];
  const announced = await base.announceKeys(heldPeppers(deps.peppers), async () => {
    missing = (await missingPeppers(deps)).map(({ pepperVersion }) => pepperVersion);
    return missing.length === 0;
  });
  // Once more: until it was announced, others may have stored keys under a pepper that it lacks.
  await requirePeppers(deps);
  const unusable = (): number[] => [...new Set([...missing, ...announced.conflictingIds()])];
  base.reportUnusableKeys("KEY_PEPPERS", unusable);
  return () => !announced.isCurrent() || unusable().length > 0;
}

/**
 * Checks the peppers at the start: without that of a stored key, its requests would get 401 as if the key were revoked. Keys that cannot
 * be used here anyway do not count: revoked ones, and those of another environment.
 *
 * @throws ConfigError naming each missing pepper and its fix
 */
export async function requirePeppers(deps: PepperUse): Promise<void> {
  const missing = await missingPeppers(deps);
  if (missing.length > 0) throw new ConfigError(missing.map(missingPepper));
}

/** Returns the peppers that stored keys need and that are not among these. Reads every key. */
function missingPeppers({ db, peppers, environment }: PepperUse): Promise<KeysUnderPepper[]> {
  const versions = peppers.map(({ version }) => version);
  return countKeysUnderOthers(db, versions, environment);
}

const missingPepper = ({ pepperVersion, keys }: KeysUnderPepper): string =>
  `KEY_PEPPERS: pepper ${pepperVersion} is missing, and API keys that are not revoked (${keys}) are stored under it: put ${pepperVersion}:… back, ` +
  "unchanged, beside the present peppers, until those keys are replaced and revoked";

type Peppers = AccountsDependencies["peppers"];

/** The peppers as other processes may know them. */
export const heldPeppers = (peppers: Peppers): HeldKey[] => peppers.map(({ version, bytes }) => heldKey(version, bytes));

/**
 * Returns the pepper for a new key: the newest that every living accounts process has, so that each of them can verify it.
 *
 * @param sql the transaction that stores the key
 * @throws AppError `unavailable` if the processes have no pepper in common
 */
export async function newestSharedPepper(sql: Sql, peppers: Peppers): Promise<Pepper> {
  const version = await newestSharedKey(sql, "accounts", heldPeppers(peppers));
  return peppers.find((pepper) => pepper.version === version) ?? peppers[0];
}
