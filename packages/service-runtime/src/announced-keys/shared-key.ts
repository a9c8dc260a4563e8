import { ConfigError } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import type { HeldKey } from "./held-key.ts";
import { holds, livingProcesses, lockKeyUse, type LivingProcess } from "./living-processes.ts";

/**
 * Returns the id of the newest of these keys that every living process holds: what this transaction stores under it, each of them can
 * read. Until the transaction ends, no other process announces itself.
 *
 * @param sql a transaction
 * @param keys newest first
 * @throws AppError `unavailable` if the processes have no key in common
 */
export async function newestSharedKey(sql: Sql, schema: string, keys: readonly HeldKey[]): Promise<number> {
  await lockKeyUse(sql, schema);
  // A statement of its own: its snapshot is taken after the lock.
  const processes = await livingProcesses(sql, schema);
  const shared = keys.find((key) => processes.every((process) => holds(process, key)));
  if (shared === undefined) {
    throw new AppError(
      "unavailable",
      "Nothing can be stored while processes with different keys are being replaced. Try again in a minute.",
    );
  }
  return shared.id;
}

/**
 * Checks that every living process holds a key, before this transaction stores something under it that others must read. Until the
 * transaction ends, no other process announces itself.
 *
 * @param sql a transaction
 * @throws ConfigError naming the processes that lack it, and what to do
 */
export async function requireSharedKey(sql: Sql, schema: string, setting: string, key: HeldKey): Promise<void> {
  await lockKeyUse(sql, schema);
  const lacking = (await livingProcesses(sql, schema)).filter((process) => !holds(process, key));
  if (lacking.length > 0) throw new ConfigError(lacking.map((process) => lackingProcess(setting, key, process)));
}

const lackingProcess = (setting: string, { id }: HeldKey, { name, seenSecondsAgo }: LivingProcess): string =>
  `${setting}: ${name} lacks key ${id}; it was seen ${Math.round(seenSecondsAgo)} s ago. Replace it with a process that has the key, wait until it has ended, ` +
  "and run this again. A process that was killed counts as ended after 30 s";
