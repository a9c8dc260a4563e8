import { openPool, type Database } from "@brand-records/postgres";
import { eventually, type TestDatabase } from "@brand-records/testkit";
import { intercepted } from "../../test/intercepted.ts";
import { webhookDatabase } from "../../test/serve-receivers.ts";
import { pausedAfterTimeout } from "../janitor.ts";
import { dropOldDays, ensureDays } from "./daily-partitions.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "retention test" });
});
afterEach(async () => {
  await db.stop();
  await database.drop();
});

const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Adds an event of that day with a finished delivery, its attempt, and an unfinished delivery. */
async function add(day: string): Promise<void> {
  await ensureDays(db, [day]);
  const at = `${day}T12:00:00.000Z`;
  const id = day.replaceAll("-", "");
  await db.query("insert into webhook.events (id, created_at, brand_id, type, data) values ($1, $2, 'brd_1', 'payout.paid', '{}')", [
    `evt_${id}`,
    at,
  ]);
  await db.query(
    `insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                          attempt_id, started_at, duration_ms, outcome)
     values ($1, 'brd_1', 'rcv_1', 'evt_1', $2, 'payout.paid', 'delivered', 1, false, $2, 'att_1', $2, 1, 'accepted')`,
    [`dlv_p${id}`, at],
  );
  await db.query(
    `insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome)
     values ($1, 'dlv_1', $2, 1, $2, 1, 'accepted')`,
    [`att_${id}`, at],
  );
  await db.query(
    "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type) values ($1, 'rcv_1', $2, $3, 'payout.paid')",
    [`dlv_${id}`, `evt_${id}`, at],
  );
}

/** Postgres reports a failure before it has released the locks of the transaction: the next try may find them. */
const dropped = (): Promise<string[]> => eventually(() => dropOldDays(db, 30));

const storedIds = async (): Promise<string[]> => {
  const rows = await db.query<{ id: string }>(
    `select id from webhook.events union select id from webhook.past_deliveries union select id from webhook.attempts
     union select id from webhook.deliveries order by id`,
  );
  return rows.map(({ id }) => id);
};

it("drops every day beyond the retention with its events, deliveries and attempts, and nothing else", async () => {
  for (const days of [0, 1, 30, 31, 32, 45]) await add(dayBefore(days));
  expect(await dropOldDays(db, 30)).toEqual([45, 32, 31].map(dayBefore));
  const kept = [30, 1, 0].map((days) => dayBefore(days).replaceAll("-", ""));
  expect(await storedIds()).toEqual([
    ...kept.map((id) => `att_${id}`),
    ...kept.map((id) => `dlv_${id}`),
    ...kept.map((id) => `dlv_p${id}`),
    ...kept.map((id) => `evt_${id}`),
  ]);
  expect(await dropOldDays(db, 30)).toEqual([]);
});

it("does not drop a day while one of its deliveries is being sent", async () => {
  await add(dayBefore(40));
  await db.query("update webhook.deliveries set state = 'sending', lease = gen_random_uuid(), lease_until = now() + interval '30 s'");
  expect(await dropOldDays(db, 30)).toEqual([]);
  await db.query("delete from webhook.deliveries");
  expect(await dropOldDays(db, 30)).toEqual([dayBefore(40)]);
});

it("drops a day whose last lease has expired, because no process will write its result", async () => {
  await add(dayBefore(40));
  await db.query("update webhook.deliveries set state = 'sending', lease = gen_random_uuid(), lease_until = now() - interval '1 s'");
  expect(await dropOldDays(db, 30)).toEqual([dayBefore(40)]);
});

it("may run in several processes concurrently", async () => {
  for (const days of [40, 41, 42]) await add(dayBefore(days));
  await Promise.allSettled([dropOldDays(db, 30), dropOldDays(db, 30), dropOldDays(db, 30)]);
  await dropped();
  expect(await storedIds()).toEqual([]);
});

it("neither waits for a reader nor makes other readers wait", async () => {
  await add(dayBefore(40));
  await db.transaction(async (sql) => {
    await sql.query("select count(*) from webhook.events");
    await expect(dropOldDays(db, 30)).rejects.toMatchObject({ kind: "timeout" });
    expect(await db.query("select id from webhook.events")).toHaveLength(1);
  });
  expect(await dropped()).toEqual([dayBefore(40)]);
});

it("drops nothing while another process tries, and waits for no lock of a table", async () => {
  await add(dayBefore(40));
  await db.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('brand-records webhook drop_day'))");
    await expect(dropOldDays(db, 30)).rejects.toMatchObject({ kind: "timeout", cause: { message: "another process drops a day" } });
  });
  expect(await dropOldDays(db, 30)).toEqual([dayBefore(40)]);
});

it("is tried once in ten minutes by each process while a reader keeps the attempts, and writers go on between", async () => {
  await add(dayBefore(40));
  await ensureDays(db, [dayBefore(0)]);
  let [minute, tries] = [0, 0];
  const counting = intercepted(db, ({ text }) => void (tries += text.includes("drop_day") ? 1 : 0));
  const processes = Array.from({ length: 3 }, () =>
    pausedAfterTimeout(
      () => dropOldDays(counting, 30),
      () => minute * 60_000,
    ),
  );
  await db.transaction(async (sql) => {
    await sql.query("select count(*) from webhook.attempts");
    for (; minute < 20; minute += 1) {
      for (const dropDays of processes) await expect(dropDays()).rejects.toMatchObject({ kind: "timeout" });
      await db.query(
        `insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome)
         values ($1, 'dlv_1', now(), 1, now(), 1, 'accepted')`,
        [`att_${minute}`],
      );
    }
  });
  expect(tries).toBe(2 * processes.length);
  // Others, such as an autovacuum, may keep a table for a tenth of a second, too: then the next try is ten minutes later.
  const tryLater = async () => {
    minute += 10;
    return processes[0]?.();
  };
  expect(await eventually(tryLater)).toEqual([dayBefore(40)]);
});

it("creates partitions during a long read", async () => {
  await db.transaction(async (sql) => {
    await sql.query("select count(*) from webhook.events");
    await ensureDays(db, [dayBefore(-5)]);
    expect(await db.query("select id from webhook.events")).toEqual([]);
  });
  await add(dayBefore(-5));
});
