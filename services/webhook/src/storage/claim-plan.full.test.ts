import { openPool, type Database } from "@brand-records/postgres";
import { serveSending, type ServedSending } from "../../test/serve-sending.ts";
import { BY_INDEX, claimDeliveries } from "./claims.ts";
import { ROOM_MAX } from "./lanes-to-serve.ts";

/** One promise: dead rows that misled the planner's statistics do not make a claim read another index than its own. */

const RECEIVERS = 1_000;
const DEAD = 200_000;
const LANES = 16;
/** Limit for writing the rows, which on a busy machine takes longer than a statement may. */
const SET_UP_MS = 120_000;
/** 3.2 million with an index whose predicate a claim implies. The dead rows of its own lanes are still read, twice. */
const BUFFERS_MAX = 12_000;

let sending: ServedSending;
/** One connection: statistics of a session are visible to itself at once. */
let db: Database;
let older: Database;
beforeAll(async () => {
  sending = await serveSending();
  const url = sending.databaseUrl;
  db = openPool({ url, max: 1, applicationName: "claims", statementTimeoutMs: SET_UP_MS, ...BY_INDEX });
  older = openPool({ url, max: 1, applicationName: "older snapshot" });
});
afterAll(async () => {
  await older.query("rollback");
  await older.stop();
  await db.stop();
  await sending.stop();
});

/** Adds pending deliveries, due an hour ago, to these receivers in turns. */
const addDeliveries = (first: number, count: number, receiverIds: readonly string[]) =>
  db.query(
    `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
     select 'dlv_' || n, ($3::text[])[1 + n % cardinality($3::text[])], 'evt_' || n, now(), 'payout.paid', now() - interval '1 hour'
       from generate_series($1::int, $1::int + $2::int - 1) n`,
    [first, count, receiverIds],
  );

interface Reads {
  readonly buffers: number;
  readonly indexes: Readonly<Record<string, number>>;
  readonly table_scans: number;
}

async function readsOfDeliveries(): Promise<Reads> {
  await db.query("select pg_stat_force_next_flush()");
  const [reads] = await db.query<Reads>(`
    select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as buffers, s.seq_scan::int as table_scans,
           (select json_object_agg(i.indexrelname, i.idx_scan) from pg_stat_user_indexes i where i.relid = t.relid) as indexes
      from pg_statio_user_tables t join pg_stat_user_tables s using (relid) where t.relid = 'webhook.deliveries'::regclass`);
  if (reads === undefined) throw new Error("no statistics of webhook.deliveries");
  return reads;
}

it(
  "claims along deliveries_to_claim alone, after 200,000 deliveries were deleted under an older snapshot",
  async () => {
    await db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
    const served = await Promise.all(Array.from({ length: LANES }, (_, n) => sending.createReceiver(`https://receiver.example/${n}`)));
    const claimable = served.map(({ id }) => id);
    const others = Array.from({ length: RECEIVERS - LANES }, (_, n) => `rcv_${n}`);
    await db.query("update webhook.lanes set next_due = now() - interval '1 hour'");
    await addDeliveries(0, DEAD, [...claimable, ...others]);
    await older.query("set idle_in_transaction_session_timeout = 0");
    await older.query("begin isolation level repeatable read");
    await older.query("select count(*) from webhook.lanes");
    await db.query("delete from webhook.deliveries");
    await addDeliveries(DEAD, LANES, claimable);
    await db.query("vacuum webhook.deliveries");

    const before = await readsOfDeliveries();
    const claimed = await claimDeliveries(db, { max: LANES * ROOM_MAX, leaseSeconds: 60, failing: true });
    const after = await readsOfDeliveries();

    expect(claimed).toHaveLength(LANES);
    const used = Object.entries(after.indexes).filter(([name, scans]) => scans > (before.indexes[name] ?? 0));
    expect(used.map(([name]) => name).toSorted()).toEqual(["deliveries_pkey", "deliveries_to_claim"]);
    expect(after.table_scans).toBe(before.table_scans);
    expect(after.buffers - before.buffers).toBeLessThan(BUFFERS_MAX);
  },
  SET_UP_MS,
);
