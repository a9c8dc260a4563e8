import { type BenchDatabase, migrateService, withClient } from "../harness/databases.ts";

const DAYS = 30;
const EVENT_TYPE = "submission.approved";

interface DeliveryCounts {
  readonly receivers: number;
  /** Due deliveries of all receivers. */
  readonly pending: number;
  /** Finished deliveries of all receivers, over the days that are kept. */
  readonly finished: number;
}

const RECEIVERS = `
  with brands as (
    insert into webhook.brands (brand_id) select 'brd_' || n from generate_series(1, $1::int) n returning brand_id),
  made as (
    insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id)
    select brand_id, 'rcv_' || substr(brand_id, 5), 'https://receiver.example/' || brand_id, 'Growth', array['${EVENT_TYPE}'], '\\x00', 1 from brands
    returning id)
  select count(*) from made`;

const LANES = `
  insert into webhook.lanes (receiver_id, next_due, max_in_flight)
  select 'rcv_' || n, now() - interval '1 hour', 64 from generate_series(1, $1::int) n`;

const PENDING = `
  with made as (
    insert into webhook.events (id, created_at, brand_id, type, data)
    select 'evt_p' || n, now(), 'brd_' || (1 + n % $1::int), '${EVENT_TYPE}', json_build_object('resource', 'submissions', 'id', 'sub_' || n)
      from generate_series(0, $2::int - 1) n
    returning id, created_at, brand_id)
  insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
  select 'dlv_z' || substr(id, 6), 'rcv_' || substr(brand_id, 5), id, created_at, '${EVENT_TYPE}', now() - interval '1 hour' from made`;

/** A day's share of the finished deliveries, with one attempt each. Ids rise with time, as real ones do. One in fifty has failed. */
const FINISHED_DAY = `
  with made as (
    select n, 'dlv_a' || lpad(n::text, 12, '0') as id, 'brd_' || (1 + n % $3::int) as brand, 'rcv_' || (1 + n % $3::int) as receiver,
           (current_date - $4::int)::timestamp at time zone 'UTC' + (n - $1::bigint) * interval '86399 seconds' / greatest(1, $2::bigint - $1::bigint) as at
      from generate_series($1::bigint, $2::bigint - 1) n)
  insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at, finished_at,
                                       attempt_id, started_at, duration_ms, outcome, http_status)
  select id, brand, receiver, 'evt_a' || n, at, '${EVENT_TYPE}', case when n % 50 = 0 then 'failed' else 'delivered' end, 1, false, at, at,
         'att_a' || n, at, 5, case when n % 50 = 0 then 'refused' else 'accepted' end, case when n % 50 = 0 then 503 else 204 end from made`;

/** Fills the tables of deliveries: receivers with due deliveries, and the finished ones of a month. */
export async function fillDeliveries(database: BenchDatabase, { receivers, pending, finished }: DeliveryCounts): Promise<void> {
  await migrateService(database, "webhook");
  await withClient(database.benchUrl, async (client) => {
    await client.query("set synchronous_commit = off");
    for (let day = 0; day <= DAYS; day += 1) await client.query("select webhook.ensure_day(current_date - $1::int)", [day]);
    await client.query("select webhook.ensure_day(current_date + 1)");
    await client.query(RECEIVERS, [receivers]);
    await client.query(LANES, [receivers]);
    await client.query(PENDING, [receivers, pending]);
    for (let day = DAYS; day > 0; day -= 1) {
      const share = (count: number): number => Math.floor((finished * count) / DAYS);
      await client.query(FINISHED_DAY, [share(DAYS - day), share(DAYS - day + 1), receivers, day]);
    }
    await client.query("vacuum analyze");
    await client.query("checkpoint");
  });
}
