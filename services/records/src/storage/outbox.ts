import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";

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

/** The snapshot of a read, as 64-bit transaction ids. */
export interface Snapshot {
  /** Every transaction before this one has ended, and is visible if it committed. */
  readonly xmin: bigint;
  /** This transaction and later ones had not started. */
  readonly xmax: bigint;
}

const RANGES = unnestRows({ after: "bigint", up_to: "bigint" }, { as: "range", after: 1 });

const statements = {
  read: {
    name: "outbox.read",
    // Returns the snapshot of the read even without rows.
    text: `select pg_snapshot_xmin(s.snapshot)::text as xmin, pg_snapshot_xmax(s.snapshot)::text as xmax,
                  r.seq, r.aggregateid, r.payload, r.traceparent
             from (select pg_current_snapshot() as snapshot) s
             left join (
               select o.seq, o.aggregateid, o.payload::text, o.traceparent
                 from ${RANGES.relation}
                cross join lateral (
                  select * from records.outbox where seq > range.after and seq <= range.up_to order by seq limit $1) o
                order by range.after, o.seq
                limit $1) r on true
            order by r.seq`,
  },
  remove: { name: "outbox.remove", text: "delete from records.outbox where seq = any($1::bigint[])" },
  oldest: {
    name: "outbox.oldest",
    text: `select extract(epoch from clock_timestamp() - (o.payload->>'created_at')::timestamptz)::float8 as seconds
             from records.outbox o order by o.seq limit 1`,
  },
  waiting: { name: "outbox.waiting", text: "select count(*) as events from (select from records.outbox o order by o.seq limit $1) o" },
  tryLead: { name: "outbox.try_lead", text: "select pg_try_advisory_lock(hashtext('brand-records outbox relay')) as leads" },
} satisfies Record<string, Statement>;

/**
 * Returns the first `limit` rows of the ranges, by sequence, and the snapshot of the read.
 *
 * @param ranges ascending and disjoint
 */
export async function readOutbox(sql: Sql, ranges: readonly SeqRange[], limit: number): Promise<{ rows: OutboxRow[]; snapshot: Snapshot }> {
  type Row = { [Name in keyof OutboxRow]: OutboxRow[Name] | null } & { xmin: string; xmax: string };
  const rows = await sql.query<Row>(statements.read, [limit, ...RANGES.values(ranges.map(({ after, upTo }) => ({ after, up_to: upTo })))]);
  const [first] = rows;
  if (first === undefined) throw new Error("reading the outbox returned no snapshot");
  return {
    rows: rows.filter((row): row is Row & OutboxRow => row.seq !== null),
    snapshot: { xmin: BigInt(first.xmin), xmax: BigInt(first.xmax) },
  };
}

export async function removeFromOutbox(sql: Sql, seqs: readonly number[]): Promise<void> {
  await sql.query(statements.remove, [seqs]);
}

/** Tries to make this session the leader, whose process empties the outbox. Returns true if it is, now or from before. */
export async function tryToLead(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ leads: boolean }>(statements.tryLead);
  return row?.leads === true;
}

/** Returns the age of the oldest event in the outbox; 0 if it is empty. */
export async function oldestSeconds(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ seconds: number }>(statements.oldest);
  return Math.max(0, row?.seconds ?? 0);
}

/** Returns how many events are in the outbox, at most `limit`. */
export async function countWaiting(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql.query<{ events: number }>(statements.waiting, [limit]);
  return row?.events ?? 0;
}
