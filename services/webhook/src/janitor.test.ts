import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics, type Registry } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { newBrand, useReceivers } from "../test/serve-receivers.ts";
import { onceAnHour, startJanitor } from "./janitor.ts";

/** One promise: what is kept no longer is deleted, and a task that fails does not stop the others. */

const served = useReceivers();
const TABLES = ["dead_letters", "attempt_hours", "replays"];
afterEach(async () => {
  await served.db.query("drop function if exists webhook.refuse() cascade");
  for (const table of TABLES) await served.db.query(`delete from webhook.${table}`);
});

/** Runs a janitor until its last task has ended. Returns the tasks that have not. */
async function clean(): Promise<string[]> {
  const metrics = openMetrics("webhook");
  const maintenance = openMaintenance(openLog("webhook", "silent"), metrics);
  const ended: string[] = [];
  const janitor = startJanitor({
    chunks: {},
    db: served.db,
    clock: Date,
    maintenance: { run: (task, work) => maintenance.run(task, work).then(() => void ended.push(task)) },
    log: openLog("webhook", "silent"),
    keepDays: 30,
  });
  try {
    await eventually(() => expect(ended).toContain("delete old dead letters"));
    return (await timesOf(metrics)).filter(([, at]) => at === "0").map(([task]) => task);
  } finally {
    await janitor.stop();
  }
}

async function timesOf(metrics: Registry): Promise<[string, string][]> {
  const lines = (await metrics.metrics()).matchAll(/^maintenance_last_success_timestamp_seconds\{.*task="([^"]*)".*\} (\S+)$/gm);
  return [...lines].map(([, task = "", at = ""]) => [task, at]);
}

async function addOld(): Promise<void> {
  const receiver = await served.create(newBrand());
  // More letters than one statement deletes.
  await served.db.query(
    `insert into webhook.dead_letters (position, reason, key, value, headers, dead_lettered_at)
     select '1', 'unknown brand', '', '', '{}', now() - make_interval(days => case when n <= 2500 then 91 else 89 end) from generate_series(1, 2501) n`,
  );
  await served.db.query(
    `insert into webhook.attempt_hours (receiver_id, hour, bucket, accepted, failed)
     select $1, date_trunc('hour', now()) - make_interval(days => d), 7, 1, 0 from unnest(array[29, 32]) d`,
    [receiver.id],
  );
  for (const [days, finished] of [
    [29, true],
    [32, true],
    [50, false],
  ] as const) {
    await served.db.query(
      `insert into webhook.replays (id, brand_id, receiver_id, since, until, started_at, finished_at)
       select $1, $2, $3, now(), now(), now(), case when $5 then now() - make_interval(days => $4::int) end`,
      [newId("rpl"), receiver.brand_id, receiver.id, days, finished],
    );
  }
}

const left = async () =>
  (
    await served.db.query(
      `select (select count(*) from webhook.dead_letters) as letters, (select count(*) from webhook.attempt_hours) as hours,
              (select count(*) from webhook.replays) as replays`,
    )
  )[0];

it("deletes old hours, replays and dead letters, and keeps the others", async () => {
  await addOld();
  expect(await clean()).toEqual([]);
  expect(await left()).toEqual({ letters: 1, hours: 1, replays: 2 });
});

it.each([
  ["attempt_hours", "delete old hours", { letters: 1, hours: 2, replays: 2 }],
  ["replays", "delete old replays", { letters: 1, hours: 1, replays: 3 }],
  ["dead_letters", "delete old dead letters", { letters: 2_501, hours: 1, replays: 2 }],
])("deletes the others when the statement of %s fails", async (table, task, expected) => {
  await addOld();
  await served.db.query(
    `create function webhook.refuse() returns trigger language plpgsql as 'begin raise exception ''interrupted''; end';
     create trigger refuse before delete on webhook.${table} for each row execute function webhook.refuse()`,
  );
  expect(await clean()).toEqual([task]);
  expect(await left()).toEqual(expected);
});

describe("a task of each hour", () => {
  const HOUR_MS = 3_600_000;

  it("runs once in each hour, as soon as it has begun", async () => {
    let [runs, now] = [0, 9.9 * HOUR_MS];
    const task = onceAnHour(
      async () => {
        runs += 1;
      },
      () => now,
    );
    for (const [hours, expected] of [
      [9.9, 1],
      [9.99, 1],
      [10, 2],
      [10.99, 2],
      [12, 3],
    ] as const) {
      now = hours * HOUR_MS;
      await task();
      expect(runs).toBe(expected);
    }
  });

  it("runs again after a failure", async () => {
    let [runs, fails] = [0, true];
    const task = onceAnHour(
      async () => {
        runs += 1;
        if (fails) throw new Error("no connection");
      },
      () => 0,
    );
    await expect(task()).rejects.toThrow("no connection");
    await expect(task()).rejects.toThrow("no connection");
    fails = false;
    await task();
    await task();
    expect(runs).toBe(3);
  });
});
