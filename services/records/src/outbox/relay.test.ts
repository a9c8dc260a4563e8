import { openPool } from "@brand-records/postgres";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
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
