import { openPool, type Database, type Sql, type Statement } from "@brand-records/postgres";
import { countBuffers, type TestDatabase } from "@brand-records/testkit";
import { webhookDatabase } from "../../test/serve-receivers.ts";
import { deleteOldHours } from "./attempt-hours.ts";

/** One promise: the hours beyond the retention go in small statements, and looking for them does not read those that stay. */

const RECEIVERS = 120;
const KEEP_DAYS = 30;
/** Buckets with attempts in each hour. */
const BUCKETS = 4;
/** The table has 4,000 blocks and more. */
const BUFFERS_MAX = 1_600;
const ROWS_MAX = 5_000;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "hours test", statementTimeoutMs: 120_000 });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});
beforeEach(() => db.query("truncate webhook.attempt_hours"));

/** Adds the hours of these days before now, to each receiver. */
async function addHours(fromDays: number, toDays: number): Promise<void> {
  await db.query(
    `insert into webhook.attempt_hours (receiver_id, hour, bucket, accepted, failed)
     select 'rcv_' || r, date_trunc('hour', now()) - make_interval(hours => h), b, 1, 0
       from generate_series($2::int * 24, $3::int * 24 - 1) h, generate_series(1, $1::int) r, generate_series(1, $4::int) b`,
    [RECEIVERS, fromDays, toDays, BUCKETS],
  );
  await db.query("vacuum analyze webhook.attempt_hours");
}

const rows = async (): Promise<number> => (await db.query<{ n: number }>("select count(*) as n from webhook.attempt_hours"))[0]?.n ?? 0;

it("reads few blocks when none is old, by either plan", async () => {
  await addHours(0, KEEP_DAYS);
  const counted = await countBuffers(db, (sql) => deleteOldHours(sql, KEEP_DAYS));
  expect({ ...counted, isWithin: Math.max(counted.generic, counted.custom) <= BUFFERS_MAX }).toEqual({ ...counted, isWithin: true });
  expect(await rows()).toBe(RECEIVERS * KEEP_DAYS * 24 * BUCKETS);
}, 120_000);

it("deletes many in bounded batches, of every receiver, and keeps the others", async () => {
  await addHours(0, 2);
  await addHours(KEEP_DAYS + 2, KEEP_DAYS + 6);
  const deleted: number[] = [];
  const counting: Sql = {
    async query<Row>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]> {
      const result = await db.query<Row>(statement, values);
      if ((typeof statement === "string" ? statement : statement.text).startsWith("delete")) deleted.push(result.length);
      return result;
    },
  };
  await deleteOldHours(counting, KEEP_DAYS);
  expect(deleted.reduce((sum, n) => sum + n)).toBe(RECEIVERS * 4 * 24 * BUCKETS);
  expect(Math.max(...deleted)).toBe(ROWS_MAX);
  expect(await rows()).toBe(RECEIVERS * 2 * 24 * BUCKETS);
});

it("neither waits nor fails while several processes delete", async () => {
  await addHours(KEEP_DAYS, KEEP_DAYS + 5);
  await Promise.all(Array.from({ length: 3 }, () => deleteOldHours(db, KEEP_DAYS)));
  expect(await rows()).toBe(RECEIVERS * 24 * BUCKETS);
});

it("keeps the hours of the last day that is kept", async () => {
  await addHours(KEEP_DAYS, KEEP_DAYS + 1);
  await deleteOldHours(db, KEEP_DAYS);
  expect(await rows()).toBe(RECEIVERS * 24 * BUCKETS);
});
