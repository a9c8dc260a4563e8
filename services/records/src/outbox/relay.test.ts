import type { LogMessage } from "@brand-records/event-log";
import { migrate, openPool, type Sql } from "@brand-records/postgres";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { MIGRATIONS } from "../migrations.ts";
import { OutboxRelay } from "./relay.ts";
import { relayMetrics } from "./relay-metrics.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase("records");
});
afterAll(() => database.drop());

it("reports every process as unhealthy while none can move events, also one that waits for its turn", async () => {
  const db = openPool({ url: database.url, max: 2, applicationName: "relay test" });
  const relays: OutboxRelay[] = [];
  const failures = [0, 0];
  /** Whether the other process counted as healthy while this one tried, once both had failed. */
  const others: boolean[] = [];
  const start = (index: 0 | 1): OutboxRelay => {
    const publish = async (): Promise<void> => {
      if (Math.min(...failures) > 0) others.push(relays[1 - index]!.isHealthy);
      failures[index]! += 1;
      throw new Error("no brokers");
    };
    const publisher = { publish, isReady: () => false, stop: async () => {} };
    return new OutboxRelay({
      databaseUrl: database.url,
      publisher,
      metrics: relayMetrics(openMetrics(`records ${index}`), db),
      log: openLog("records", "silent"),
    });
  };
  relays.push(start(0), start(1));
  try {
    await eventually(() => expect(others.length).toBeGreaterThan(4), { timeoutMs: 60_000 });
    expect(new Set(others)).toEqual(new Set([false]));
  } finally {
    for (const relay of relays) await relay.stop();
    await db.stop();
  }
}, 90_000);

it("moves the event of a change that took its number before others and commits after the relay has read twice", async () => {
  await migrate({ url: database.url, schema: "records", directory: MIGRATIONS });
  const db = openPool({ url: database.url, max: 3, applicationName: "relay test" });
  const moved: string[] = [];
  const publish = async (messages: readonly LogMessage[]): Promise<void> => {
    for (const { value } of messages) moved.push((JSON.parse(value.toString()) as { data: { id: string } }).data.id);
  };
  const relay = new OutboxRelay({
    databaseUrl: database.url,
    publisher: { publish, isReady: () => true, stop: async () => {} },
    metrics: relayMetrics(openMetrics("records"), db),
    log: openLog("records", "silent"),
  });
  const change = (sql: Sql, id: string) =>
    sql.query("select records.emit('payout.paid', 'brd_1', $1, json_build_object('id', $1::text))", [id]);
  try {
    await db.transaction(async (long) => {
      await db.transaction(async (quick) => {
        // With an id below that of the long one, so that none above it ends before the relay reads.
        await quick.query("select pg_current_xact_id()");
        await change(long, "pay_long");
        await change(quick, "pay_quick");
      });
      for (const next of ["pay_2", "pay_3"]) {
        await eventually(() => expect(moved.at(-1)).toBe(next === "pay_2" ? "pay_quick" : "pay_2"));
        await change(db, next);
      }
      await eventually(() => expect(moved).toEqual(["pay_quick", "pay_2", "pay_3"]));
    });
    await eventually(() => expect(moved).toEqual(["pay_quick", "pay_2", "pay_3", "pay_long"]));
  } finally {
    await relay.stop();
    await db.stop();
  }
}, 60_000);
