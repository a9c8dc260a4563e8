import { firstOf, onlyOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";

/** A range of sequence numbers in the outbox: above `after`, up to and including `upTo`. */
export interface SeqRange {
  readonly after: number;
  readonly upTo: number;
}

export interface OutboxRow {
  readonly seq: number;
  readonly aggregateid: string;
  readonly payload: string;
  readonly traceparent: string | null;
}

const RANGES = unnestRows({ after: "bigint", up_to: "bigint" }, { as: "range", after: 1 });

const statements = statementsOf("outbox", {
  // Returns what the read saw even without rows.
  read: `select pg_snapshot_xmin(s.snapshot)::text as xmin, r.seq, r.aggregateid, r.payload, r.traceparent
             from (select pg_current_snapshot() as snapshot) s
             left join (
               select o.seq, o.aggregateid, o.payload::text, o.traceparent
                 from ${RANGES.relation}
                cross join lateral (
                  select * from records.outbox where seq > range.after and seq <= range.up_to order by seq limit $1) o
                order by range.after, o.seq
                limit $1) r on true
            order by r.seq`,
  // Another process may have deleted them: then only the call gives this transaction an id.
  remove: `with removed as (delete from records.outbox where seq = any($1::bigint[]))
           select pg_current_xact_id()::text as xid`,
  oldest: `select extract(epoch from clock_timestamp() - (o.payload->>'created_at')::timestamptz)::float8 as seconds
             from records.outbox o order by o.seq limit 1`,
  // Slots of moves out of this cell, and those with which the new cell copies tables.
  waiting: `select (select count(*) from (select from records.outbox o order by o.seq limit $1) o) as events,
                   (select coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::float8 from pg_replication_slots
                     where database = current_database() and slot_name ~ '^(move_brd_|pg_\\d+_sync_)') as retained_bytes`,
  tryLead: "select pg_try_advisory_lock(hashtext('brand-records outbox relay')) as leads",
});

/**
 * Returns the first `limit` rows of the ranges, by sequence, and the oldest transaction that still ran: every earlier one has ended, and
 * is visible if it committed.
 *
 * @param ranges ascending and disjoint
 */
export async function readOutbox(sql: Sql, ranges: readonly SeqRange[], limit: number): Promise<{ rows: OutboxRow[]; xmin: bigint }> {
  type Row = { [Name in keyof OutboxRow]: OutboxRow[Name] | null } & { xmin: string };
  const rows = await sql.query<Row>(statements.read, [limit, ...RANGES.values(ranges.map(({ after, upTo }) => ({ after, up_to: upTo })))]);
  const [first] = rows;
  if (first === undefined) throw new Error("reading the outbox returned no snapshot");
  return {
    rows: rows.filter((row): row is Row & OutboxRow => row.seq !== null),
    xmin: BigInt(first.xmin),
  };
}

/** Returns the id of the transaction that removed them: it began after every one that had taken a lower number than any of them. */
export async function removeFromOutbox(sql: Sql, seqs: readonly number[]): Promise<bigint> {
  const [row] = await sql.query<{ xid: string }>(statements.remove, [seqs]);
  if (row === undefined) throw new Error("removing from the outbox returned no transaction");
  return BigInt(row.xid);
}

/** Tries to make this session the leader, whose process empties the outbox. Returns true if it is, now or from before. */
export const tryToLead = async (sql: Sql): Promise<boolean> =>
  (await firstOf(sql.query<{ leads: boolean }>(statements.tryLead)))?.leads === true;

/** Returns the age of the oldest event in the outbox; 0 if it is empty. */
export async function oldestSeconds(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ seconds: number }>(statements.oldest);
  return Math.max(0, row?.seconds ?? 0);
}

/** Returns how many events are in the outbox, at most `limit`, and how much of the write-ahead log the slot of a move keeps, the largest. */
export const readWaiting = (sql: Sql, limit: number): Promise<{ readonly events: number; readonly retained_bytes: number }> =>
  onlyOf(sql.query(statements.waiting, [limit]));
