import type { Sql } from "@brand-records/postgres";
import { heldKey, newestSharedKey, type HeldKey } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Pepper } from "../domain/key-hash.ts";

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
