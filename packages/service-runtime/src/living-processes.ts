import { createHmac } from "node:crypto";
import { ConfigError } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";

/**
 * Every statement on the table `living_processes` of a service's schema: the processes that live, and the keys that they hold.
 *
 * The rule: what a process stores under a key, every living process can read. A process that stores locks the use of keys
 * (`lockKeyUse`) and then reads who lives; one that starts locks announcements (`lockAnnouncement`), which waits for the former, announces
 * itself, and then looks at what is stored. So one of the two always sees the other. All times are the database's.
 */

/** A process counts as living for this long after it was last seen. */
const ALIVE_SECONDS = 30;
/**
 * A process that was not seen for this long has to announce itself again. Less than `ALIVE_SECONDS` by more than a heartbeat takes: others
 * must never have counted it as ended while it did not know.
 */
export const CURRENT_SECONDS = 20;

export interface Announcement {
  /** Another at each start. */
  readonly id: string;
  /** Tells operators the host's name, on Kubernetes that of the pod, and the process id. */
  readonly name: string;
  readonly keys: readonly HeldKey[];
}

export interface LivingProcess extends Announcement {
  readonly seenSecondsAgo: number;
}

const lockName = (schema: string): string => `brand-records keys ${schema}`;

/** Keeps processes from announcing themselves until this transaction ends. Others may hold the same lock. */
async function lockKeyUse(sql: Sql, schema: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock_shared(hashtext($1))", [lockName(schema)]);
}

/** Waits for every transaction that has locked the use of keys. Until this transaction ends, no other locks it. */
export async function lockAnnouncement(sql: Sql, schema: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtext($1))", [lockName(schema)]);
}

/** The process lives from now on. Announcements must be locked. */
export async function writeAnnouncement(sql: Sql, schema: string, { id, name, keys }: Announcement): Promise<void> {
  await sql.query(
    `insert into ${schema}.living_processes (id, name, keys, seen_at) values ($1, $2, $3::jsonb, clock_timestamp())
     on conflict (id) do update set seen_at = excluded.seen_at`,
    [id, name, JSON.stringify(keys)],
  );
}

/**
 * Notes that the process still lives.
 *
 * @returns false, and changes nothing, if it was not seen for `CURRENT_SECONDS`: others may have counted it as ended
 */
export async function beat(sql: Sql, schema: string, id: string): Promise<boolean> {
  const seen = await sql.query(
    `update ${schema}.living_processes set seen_at = clock_timestamp()
      where id = $1 and seen_at > clock_timestamp() - make_interval(secs => ${CURRENT_SECONDS}) returning id`,
    [id],
  );
  return seen.length > 0;
}

/** Removes processes that no longer live. Safe to run anywhere, any number of times: it skips what another transaction has locked. */
export async function removeEnded(sql: Sql, schema: string): Promise<void> {
  await sql.query(
    `delete from ${schema}.living_processes where id in (
       select id from ${schema}.living_processes where seen_at <= clock_timestamp() - make_interval(secs => ${ALIVE_SECONDS})
          for update skip locked)`,
  );
}

export async function removeProcess(sql: Sql, schema: string, id: string): Promise<void> {
  await sql.query(`delete from ${schema}.living_processes where id = $1`, [id]);
}

/** Returns the processes that live, by name. */
export async function livingProcesses(sql: Sql, schema: string): Promise<LivingProcess[]> {
  const rows = await sql.query<Omit<LivingProcess, "keys"> & { readonly keys: string }>(
    `select id, name, keys::text, extract(epoch from clock_timestamp() - seen_at)::float8 as "seenSecondsAgo"
       from ${schema}.living_processes
      where seen_at > clock_timestamp() - make_interval(secs => ${ALIVE_SECONDS}) order by name, id`,
  );
  return rows.map((row) => ({ ...row, keys: JSON.parse(row.keys) as HeldKey[] }));
}

export const holds = ({ keys }: Pick<Announcement, "keys">, key: HeldKey): boolean => keys.some((held) => isSameKey(held, key));

/** A key that a process holds, as others may know it. */
export interface HeldKey {
  readonly id: number;
  /** Tells the key from another under the same id, and reveals nothing of it. */
  readonly fingerprint: string;
}

/** Text that does not have 32 bytes: peppers hash what has 32, and a fingerprint must never equal the hash of an API key. */
const KNOWN_TEXT = "brand-records: fingerprint of a key that a process holds";

/** @param bytes 32 random bytes or more: a weaker key could be guessed from its fingerprint */
export const heldKey = (id: number, bytes: Buffer): HeldKey => ({
  id,
  fingerprint: createHmac("sha256", bytes).update(KNOWN_TEXT).digest("hex"),
});

const isSameKey = (a: HeldKey, b: HeldKey): boolean => a.id === b.id && a.fingerprint === b.fingerprint;

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
