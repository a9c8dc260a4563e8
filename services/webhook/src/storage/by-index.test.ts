import { openLog } from "@brand-records/telemetry";
import { newEvents } from "../../test/add-events.ts";
import { resultOf } from "../../test/attempt-result.ts";
import { serveClaims, type ServedClaims } from "../../test/serve-claims.ts";
import { storeEvents } from "../use-cases/store-events.ts";
import { writeResults } from "../use-cases/write-results.ts";

/** One promise: what sending does is planned once for each connection, and a plan that was made for empty tables is right for large ones. */

const LANES = 2_000;
const DELIVERIES = 20_000;
/** Some 130; all receivers are 800. */
const BUFFERS_MAX = 300;
const TABLES = ["lanes", "receivers", "brands", "deliveries", "events_%", "past_deliveries_%"];
const PREPARED = ["claims.claim", "locked_lanes.read", "locked_lanes.update", "results.settle"];

let served: ServedClaims;
beforeEach(async () => {
  served = await serveClaims();
});
afterEach(() => served.stop());

/** Stores an event, claims its delivery and writes its result, in the three transactions of sending. */
async function sendOne(): Promise<void> {
  const { db, receiver } = served;
  await storeEvents(db, newEvents(receiver.brand));
  const claimed = await served.claim({ max: 1 });
  expect(claimed).toHaveLength(1);
  const results = claimed.map((delivery) => resultOf(delivery));
  await writeResults(db, results, Date.now(), openLog("webhook", "silent"));
}

/** Adds receivers and finished and unfinished deliveries. No statistics tell of them. */
async function fill(): Promise<void> {
  const { db } = served;
  await db.query(
    `with brands as (
       insert into webhook.brands (brand_id) select 'brd_' || n from generate_series(1, $1::int) n returning brand_id),
     made as (
       insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id)
       select b.brand_id, 'rcv_' || substr(b.brand_id, 5), url, label, events, secret, secret_key_id from webhook.receivers, brands b returning id)
     insert into webhook.lanes (receiver_id) select id from made`,
    [LANES],
  );
  await db.query(
    `with made as (
       insert into webhook.events (id, created_at, brand_id, type, data)
       select 'evt_' || n, now(), 'brd_1', 'submission.approved', '{}' from generate_series(1, $1::int) n returning id, created_at),
     due as (
       insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
       select 'dlv_' || substr(id, 5), 'rcv_' || (1 + substr(id, 5)::int % $2::int), id, created_at, 'submission.approved', 'infinity' from made)
     insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at, finished_at,
                                          attempt_id, started_at, duration_ms, outcome)
     select 'dlv_p' || substr(id, 5), 'brd_1', 'rcv_1', id, created_at, 'submission.approved', 'delivered', 1, false, created_at, created_at,
            'att_p' || substr(id, 5), created_at, 5, 'accepted' from made`,
    [DELIVERIES, LANES],
  );
}

interface Reads {
  readonly scans: number;
  readonly buffers: number;
}

async function reads(): Promise<Reads> {
  const { db } = served;
  await db.query("select pg_stat_force_next_flush()");
  const [row] = await db.query<Reads>(
    `select sum(s.seq_scan)::int as scans, sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as buffers
       from pg_stat_user_tables s join pg_statio_user_tables t using (relid)
      where s.schemaname = 'webhook' and s.relname like any($1::text[])`,
    [TABLES],
  );
  if (row === undefined) throw new Error("no statistics");
  return row;
}

it("sending reads some hundred blocks and scans no table, though its plans were made before there were any rows", async () => {
  const { db } = served;
  await db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
  await db.query("alter table webhook.lanes set (autovacuum_enabled = false)");
  await db.query("alter table webhook.receivers set (autovacuum_enabled = false)");
  await sendOne();
  await fill();
  const before = await reads();
  await sendOne();
  const after = await reads();
  expect(after.scans - before.scans).toBe(0);
  expect(after.buffers - before.buffers).toBeLessThan(BUFFERS_MAX);
});

it("plans each of its statements once, whatever it is asked for", async () => {
  const { db } = served;
  for (let time = 1; time <= 3; time += 1) await sendOne();
  const plans = await db.query<{ name: string; generic: number; custom: number }>(
    `select name, generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements where name = any($1) order by name`,
    [PREPARED],
  );
  expect(plans).toEqual(PREPARED.map((name) => ({ name, generic: 3, custom: 0 })));
});
