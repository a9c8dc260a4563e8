import { errorCode } from "@brand-records/command-line";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { cellText } from "../connection/cells.ts";
import { CommandFailure } from "../failure.ts";
import type { Cell } from "./cell.ts";
import { type Moving, until } from "./moving.ts";

/** The name of publication, slot and subscription. It needs no quotes, like the id. */
const nameOf = (brandId: string): string => `move_${brandId}`;

/**
 * Whether the target gets the brand's changes, or will when both servers run. It gets none of a slot that the source has given up, nor of
 * tables that a restore has put aside.
 */
export async function isReplicating({ source, target, brandId }: Moving): Promise<boolean> {
  const slots = await source.query(
    `select from pg_replication_slots join pg_publication_tables on pubname = slot_name
      where slot_name = $1 and wal_status is distinct from 'lost' and schemaname = 'records'`,
    [nameOf(brandId)],
  );
  const found = await subscriptionOf(target, brandId);
  return slots.length === RESOURCE_NAMES.length && found?.subenabled === true && found.tables === RESOURCE_NAMES.length;
}

/**
 * The slot apart: made with the subscription, it would wait for ever if both cells are on one server. With synchronous commits: else a target
 * that is killed may forget that a table is copied whose slot is gone, and ask for that slot for ever.
 */
export async function startReplication({ source, target, brandId }: Moving): Promise<void> {
  const name = nameOf(brandId);
  const tables = RESOURCE_NAMES.map((table) => `records.${table} where (brand_id = '${brandId}')`);
  await source.query(`create publication ${name} for table ${tables.join(", ")} with (publish = 'insert, update, delete')`);
  await source.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
  const connection = `'${source.url.replaceAll("'", "''")}'`;
  await target.query(
    `create subscription ${name} connection ${connection} publication ${name} with (create_slot = false, synchronous_commit = on)`,
  );
}

/** Removes subscription, slots and publication, as far as they are there. The subscription goes last: its number is in names of slots. */
export async function stopReplication({ source, target, brandId }: Moving): Promise<void> {
  const found = await subscriptionOf(target, brandId);
  if (found?.subenabled === true) await target.query(`alter subscription ${nameOf(brandId)} disable`);
  await dropSlots(source, brandId, found?.copying_slots);
  if (found === undefined) return;
  await target.query(`alter subscription ${nameOf(brandId)} set (slot_name = none)`);
  await target.query(`drop subscription ${nameOf(brandId)}`);
}

/** @param copying a pattern of the names of the slots that copy tables */
export async function dropSlots(source: Cell, brandId: string, copying = "^$"): Promise<void> {
  const ours = "from pg_replication_slots where slot_name = $1 or slot_name ~ $2";
  const names = [nameOf(brandId), copying];
  while ((await source.query(`select pg_terminate_backend(active_pid, 5000) ${ours}`, names)).length > 0)
    try {
      await source.query(`select pg_drop_replication_slot(slot_name) ${ours}`, names);
    } catch (error) {
      // object_in_use: the target has connected again, before it noticed that the subscription is disabled.
      if (errorCode((error as Error).cause) !== "55006") throw error;
    }
  await source.query(`drop publication if exists ${nameOf(brandId)}`);
}

interface Subscription {
  readonly subenabled: boolean;
  readonly copying_slots: string;
  /** How many of its tables are in use. */
  readonly tables: number;
}

const subscriptionOf = async (target: Cell, brandId: string): Promise<Subscription | undefined> =>
  (
    await target.query<Subscription>(
      `select subenabled, format('^pg_%s_sync_\\d+_%s$', s.oid, (select system_identifier from pg_control_system())) as copying_slots,
              (select count(*) from pg_subscription_rel join pg_class c on c.oid = srrelid
                where srsubid = s.oid and relnamespace = 'records'::regnamespace) as tables
         from pg_subscription s join pg_database d on d.oid = subdbid where subname = $1 and datname = current_database()`,
      [nameOf(brandId)],
    )
  )[0];

const slotLost = ({ name }: Cell): CommandFailure =>
  new CommandFailure("slot_lost", `Replication has ended: ${cellText(name)} keeps no changes for the move any more.`);

/** Waits until every table is copied, and the target is less than a second behind. @param counts records, by resource */
export async function untilInStep(moving: Moving, counts: ReadonlyMap<string, number>, onCopied: (records: number) => void): Promise<void> {
  const { target, brandId, signal } = moving;
  await until(Infinity, signal, async () => {
    if (!(await isReplicating(moving))) throw slotLost(moving.source);
    const tables = await target.query<{ name: string; state: string; copied: number }>(
      `select c.relname as name, srsubstate as state, coalesce(tuples_processed, 0) as copied
         from pg_subscription_rel join pg_subscription s on s.oid = srsubid join pg_class c on c.oid = srrelid
              left join pg_stat_progress_copy p on p.relid = srrelid and p.datname = current_database()
        where subname = $1`,
      [nameOf(brandId)],
    );
    const copied = tables.map(({ name, state, copied: rows }) => (/[id]/.test(state) ? rows : (counts.get(name) ?? 0)));
    onCopied(copied.reduce((sum, rows) => sum + rows, 0));
    return tables.length === RESOURCE_NAMES.length && tables.every(({ state }) => state === "r");
  });
  while (!(await isCaughtUp(moving, performance.now() + 1_000)));
}

/**
 * Returns whether the target has, by this time, all that is committed now. What is written into the log makes it move on when nothing else
 * does.
 *
 * @throws CommandFailure `slot_lost`
 */
export async function isCaughtUp({ source, brandId, signal }: Moving, endsAt: number): Promise<boolean> {
  const [row] = await source.query<{ lsn: string }>("select pg_logical_emit_message(true, 'brand_records', '')::text as lsn");
  const slot =
    "select confirmed_flush_lsn >= $2::pg_lsn as is_there from pg_replication_slots where slot_name = $1 and wal_status is distinct from 'lost'";
  return until(endsAt, signal, async () => {
    const [found] = await source.query<{ is_there: boolean }>(slot, [nameOf(brandId), row?.lsn]);
    if (found === undefined) throw slotLost(source);
    return found.is_there;
  });
}
