import { countBuffers } from "@brand-records/testkit";
import { unnestRows, type Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { newBrand, serveReceivers, type ServedReceivers } from "../../test/serve-receivers.ts";
import { DELIVERY_STATES } from "../domain/delivery.ts";
import { ensureDays } from "../storage/daily-partitions.ts";
import { countReplay, insertReplay } from "../storage/replays.ts";
import { findBrand } from "./find-brand.ts";
import { getDelivery, getDeliveryStats, listDeliveries, type DeliveryList } from "./read-deliveries.ts";
import { getEvent, listEvents } from "./read-events.ts";
import { getReceiver, receiversOf } from "./receivers.ts";
import { getLatestReplay } from "./replay-events.ts";

const RECEIVER_IDS = unnestRows({ id: "text" }, { after: 1 });
const RECEIVERS = 30;
const DELIVERIES = 20_000;
const DAYS = 7;
/** The first of the days; each delivery is 30 s after the one before. */
const START = Date.UTC(2026, 10, 14);
const STEP_MS = (DAYS * 86_400_000) / DELIVERIES;
/** Blocks that a page's call may read: about 20 ms. A list of deliveries read 39,000 by a plan that walked those of all receivers. */
const BUFFERS_MAX = 4_000;

let served: ServedReceivers;
const brandId = newBrand();
const receiverIds = Array.from({ length: RECEIVERS }, () => newId("rcv"));
const [busy = ""] = receiverIds;
const RECORD = "sub_5";

beforeAll(async () => {
  served = await serveReceivers();
  await ensureDays(
    served.db,
    Array.from({ length: 31 }, (_, day) => new Date(START + (day - 23) * 86_400_000).toISOString().slice(0, 10)),
  );
  await fill(brandId, receiverIds);
  await served.db.transaction((sql) => insertReplay(sql, replayId, later, null, replayOf(from, false)));
  // Written after the statistics were gathered, so that the planner expects none of them.
  await fill(newBrand(), [newId("rcv")]);
}, 120_000);
afterAll(() => served.stop());

/**
 * Half of the deliveries go to the first receiver, which has refused everything for seven days: they fail, and a tenth of them is retried.
 * The others accept. A record has five events.
 */
async function fill(brand: string, receivers: readonly string[]): Promise<void> {
  const { db } = served;
  await db.query("insert into webhook.brands (brand_id) values ($1)", [brand]);
  await db.query(
    `with added as (
       insert into webhook.receivers (id, brand_id, url, label, events, secret, secret_key_id)
       select id, $1, 'https://hooks.brand.example/' || id, 'Ledger', '{submission.approved}', '\\x00', 1 from ${RECEIVER_IDS.relation} returning id)
     insert into webhook.lanes (receiver_id) select id from added`,
    [brand, ...RECEIVER_IDS.values(receivers.map((id) => ({ id })))],
  );
  await db.query(
    `with made as materialized (
       select n, 'x' || lpad(n::text, 6, '0') || right($1, 6) as suffix, $3::timestamptz + n * make_interval(secs => $4::float8 / 1000) as at,
              ($2::text[])[case when n % 2 = 0 then 1 else 1 + n % cardinality($2) end] as receiver_id, n % 2 = 0 as fails, n % 20 = 0 as waits
         from generate_series(1, $5::int) n),
     events as (
       insert into webhook.events (id, created_at, brand_id, type, data)
       select 'evt_' || suffix, at, $1, 'submission.approved', json_build_object('id', 'sub_' || n / 5) from made),
     waiting as (
       insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, attempt, due_at, created_at)
       select 'dlv_' || suffix, receiver_id, 'evt_' || suffix, at, 'submission.approved', 3, now() + interval '1 hour', at from made where waits),
     tried as (
       insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status)
       select 'att_' || suffix || a, 'dlv_' || suffix, at, a, at, 100, 'refused', 503 from made, generate_series(1, 3) a where waits)
     insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                          finished_at, attempt_id, started_at, duration_ms, outcome, http_status)
     select 'dlv_' || suffix, $1, receiver_id, 'evt_' || suffix, at, 'submission.approved', case when fails then 'failed' else 'delivered' end, 10, false,
            at, at, 'att_' || suffix, at, 100, case when fails then 'refused' else 'accepted' end, case when fails then 503 else 200 end
       from made where not waits`,
    [brand, receivers, new Date(START).toISOString(), STEP_MS, DELIVERIES],
  );
  if (brand === brandId) await db.query("vacuum analyze");
}

const ALL: DeliveryList = {
  brandId,
  receiverId: busy,
  eventId: null,
  recordId: null,
  states: DELIVERY_STATES,
  type: null,
  from: null,
  to: null,
  statusClass: null,
  afterId: null,
  limit: 50,
};
const NO_FILTER = { type: null, recordId: null, from: null, to: null, after: null, limit: 50, countsReceivers: true };
const from = new Date(START).toISOString();
const to = new Date(START + DAYS * 86_400_000).toISOString();
const ofBrand = { brandId, receiverId: busy };
/** Events of the test are stored as if they had come late. */
const later = new Date(Date.now() + 3_600_000).toISOString();
const replayId = newId("rpl");
const replayOf = (since: string, failedOnly: boolean) => ({ ...ofBrand, since, until: null, failedOnly });
/** The day that a replay begins with without a choice. */
const lastDay = new Date(START + (DAYS - 1) * 86_400_000).toISOString();

const CALLS: [string, (sql: Sql) => Promise<unknown>][] = [
  ["a receiver's deliveries", (sql) => listDeliveries(sql, ALL)],
  ["its deliveries of a record", (sql) => listDeliveries(sql, { ...ALL, recordId: RECORD })],
  ["all deliveries of a record", (sql) => listDeliveries(sql, { ...ALL, receiverId: null, recordId: RECORD })],
  ["deliveries of a record that does not exist", (sql) => listDeliveries(sql, { ...ALL, recordId: "sub_none" })],
  ["deliveries that got 5xx", (sql) => listDeliveries(sql, { ...ALL, statusClass: "5xx" })],
  ["deliveries that got 4xx, of which there are none", (sql) => listDeliveries(sql, { ...ALL, statusClass: "4xx" })],
  ["deliveries that got 4xx, of a record", (sql) => listDeliveries(sql, { ...ALL, recordId: RECORD, statusClass: "4xx" })],
  ["the brand's events with their receivers", (sql) => listEvents(sql, brandId, NO_FILTER)],
  ["events of a record with their receivers", (sql) => listEvents(sql, brandId, { ...NO_FILTER, recordId: RECORD })],
  ["an event", async (sql) => getEvent(sql, { brandId, eventId: await anId("event_id") })],
  ["a delivery", async (sql) => getDelivery(sql, { brandId, deliveryId: await anId("id") })],
  ["the attempts of a week by hour", (sql) => getDeliveryStats(sql, ofBrand, from, to)],
  ["the brand's receivers", (sql) => receiversOf(sql, brandId)],
  ["a receiver", (sql) => getReceiver(sql, ofBrand)],
  ["the last replay, unfinished", (sql) => getLatestReplay(sql, ofBrand)],
  ["what a replay of a day would send", (sql) => countReplay(sql, later, replayOf(lastDay, false))],
  ["what a replay of a week would send", (sql) => countReplay(sql, later, replayOf(from, false))],
];

const LOOK_UPS: [string, () => Promise<string>][] = [
  ["a receiver", async () => busy],
  ["an event", () => anId("event_id")],
  ["a delivery", () => anId("id")],
  ["a replay", async () => replayId],
];

async function anId(column: "id" | "event_id"): Promise<string> {
  const [row] = await served.db.query<{ id: string }>(
    `select ${column} as id from webhook.past_deliveries where receiver_id = $1 order by webhook.past_deliveries.id limit 1`,
    [busy],
  );
  return row?.id ?? "";
}

it.each(CALLS)("reads few blocks for %s, by either plan", async (_, call) => {
  const { generic, custom } = await countBuffers(served.db, call);
  expect({ generic, custom, isWithin: Math.max(generic, custom) <= BUFFERS_MAX }).toEqual({ generic, custom, isWithin: true });
});

it.each([
  ["a day", lastDay, 1],
  ["a week", from, DAYS],
])("reads few blocks for each failed event that a replay of %s would send, of which it counts 10,000", async (_, since, days) => {
  const asked = replayOf(since, true);
  const events = (await countReplay(served.db, later, asked)) ?? 0;
  // Nine of twenty deliveries have failed.
  expect(Math.abs(events - (DELIVERIES * 9 * days) / 20 / DAYS)).toBeLessThanOrEqual(1);
  const { generic, custom } = await countBuffers(served.db, (sql) => countReplay(sql, later, asked));
  expect([generic, custom].map((blocks) => blocks / events < 10)).toEqual([true, true]);
});

it.each(LOOK_UPS)("finds the brand of %s by indexes alone, in every partition", async (_, anIdOf) => {
  const id = await anIdOf();
  const { generic, custom, readWhole } = await countBuffers(served.db, (sql) => findBrand(sql, id));
  expect([await findBrand(served.db, id), Math.max(generic, custom) <= 100, readWhole]).toEqual([brandId, true, []]);
});

it("plans the console's list of a receiver's deliveries once for each connection, with a thousand times as many", async () => {
  await served.db.transaction(async (sql) => {
    await sql.query("savepoint before");
    await sql.query(
      "update pg_class set reltuples = reltuples * 1000 where oid in (select relid from pg_partition_tree('webhook.past_deliveries'))",
    );
    for (let call = 0; call < 10; call += 1) await listDeliveries(sql, ALL);
    await sql.query("rollback to savepoint before");
    const plans = await sql.query<{ generic: number }>(
      "select generic_plans::int as generic from pg_prepared_statements where name = 'deliveries.page_delivered_failed_held_pending_sending'",
    );
    // The first five are planned each, to compare with.
    expect(plans).toEqual([{ generic: 5 }]);
  });
});

it("finds what the calls name", async () => {
  expect((await listDeliveries(served.db, { ...ALL, receiverId: null, recordId: RECORD })).deliveries).toHaveLength(5);
  expect((await listDeliveries(served.db, { ...ALL, statusClass: "5xx" })).deliveries).toHaveLength(50);
  const missing = await listDeliveries(served.db, { ...ALL, statusClass: "4xx" });
  expect(missing).toMatchObject({ deliveries: [], next: expect.stringMatching(/^dlv_/) });
});

it("comes to the end of a list in which no delivery has the status", async () => {
  let calls = 0;
  for (let afterId: string | null = null; ; calls += 1) {
    const page: Awaited<ReturnType<typeof listDeliveries>> = await listDeliveries(served.db, { ...ALL, statusClass: "4xx", afterId });
    expect(page.deliveries).toEqual([]);
    if (page.next === null) break;
    afterId = page.next;
  }
  expect(calls).toBe(DELIVERIES / 2 / 2_000);
});
