import { PartlyPublished, type LogMessage, type PublishFailure } from "@brand-records/event-log";
import { openPool, type Database, type Sql } from "@brand-records/postgres";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually, type TestDatabase } from "@brand-records/testkit";
import { createRecordsDatabase } from "../../test/serve-records.ts";
import { OutboxRelay } from "./relay.ts";
import { relayMetrics } from "./relay-metrics.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createRecordsDatabase();
  db = openPool({ url: database.url, applicationName: "relay test" });
});
const relays: OutboxRelay[] = [];
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.stop();
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

/** Starts a relay that is stopped with the test. */
function startRelay(
  publish: (messages: readonly LogMessage[]) => Promise<void>,
  { isReady = (): boolean => true, registry = openMetrics("records"), log = openLog("records", "silent") } = {},
): OutboxRelay {
  const publisher = { publish, isReady, stop: async () => {} };
  const relay = new OutboxRelay({ databaseUrl: database.url, publisher, metrics: relayMetrics(registry, db), log });
  relays.push(relay);
  return relay;
}

it("reports every process as unhealthy while none can move events, also one that waits for its turn", async () => {
  const failures = [0, 0];
  /** Whether the other process counted as healthy while this one tried, once both had failed. */
  const others: boolean[] = [];
  for (const index of [0, 1] as const)
    startRelay(
      async () => {
        if (Math.min(...failures) > 0) others.push(relays[1 - index]!.isHealthy);
        failures[index]! += 1;
        throw new Error("no brokers");
      },
      { isReady: () => false },
    );
  await eventually(() => expect(others.length).toBeGreaterThan(4), { timeoutMs: 60_000 });
  expect(new Set(others)).toEqual(new Set([false]));
});

it("moves the event of a change that took its number before others and commits after the relay has read twice", async () => {
  const moved: string[] = [];
  startRelay(async (messages) => {
    for (const { value } of messages) moved.push((JSON.parse(value.toString()) as { data: { id: string } }).data.id);
  });
  const change = (sql: Sql, id: string) =>
    sql.query("select records.emit('payout.paid', 'brd_1', $1, json_build_object('id', $1::text))", [id]);
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
});

interface Moved {
  readonly record: string;
  readonly id: string;
}

/** A relay to a log that refuses messages as `refuse` says, and the events that the log has acknowledged, in order. */
function partlyRefused(refuse: (messages: readonly Moved[]) => (PublishFailure["reason"] | undefined)[], isReady = (): boolean => true) {
  const moved: Moved[] = [];
  const publish = async (messages: readonly LogMessage[]): Promise<void> => {
    const events = messages.map(({ key, value }) => ({
      record: key,
      id: (JSON.parse(value.toString()) as { data: { id: string } }).data.id,
    }));
    const reasons = refuse(events);
    moved.push(...events.filter((_, index) => reasons[index] === undefined));
    const failures = messages.flatMap((message, index): PublishFailure[] => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ message, partition: 1, reason, cause: new Error("refused") }];
    });
    if (failures.length > 0) throw new PartlyPublished(failures, 20);
  };
  const registry = openMetrics("records");
  const errors: object[] = [];
  const log = openLog("records", "silent");
  log.error = (fields: unknown) => void errors.push(fields as object);
  return {
    moved,
    errors,
    start: () => startRelay(publish, { isReady, registry, log }),
    metric: async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value,
    /** One change of each record, in one statement. */
    change: (id: string, records: readonly string[]) =>
      db.query(
        "select records.emit('payout.paid', 'brd_1', record, json_build_object('id', $1::text)) from jsonb_array_elements_text($2::jsonb) record",
        [id, JSON.stringify(records)],
      ),
    waiting: async () => (await db.query<{ events: number }>("select count(*) as events from records.outbox"))[0]?.events,
  };
}

const recordsOf = (name: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${name}_${index}`);

it("moves the events of partitions that work, behind more of others than one read takes, and then those, once and in order", async () => {
  let isStuck = true;
  const relay = partlyRefused((events) => events.map(({ record }) => (isStuck && record.startsWith("stuck") ? "partition" : undefined)));
  for (const id of ["1", "2", "3"]) await relay.change(id, recordsOf("stuck", 900));
  await relay.change("1", recordsOf("free", 10));
  relay.start();
  await eventually(() => expect(relay.moved).toHaveLength(10));
  await relay.change("2", [...recordsOf("stuck", 1), ...recordsOf("free", 10)]);
  await eventually(() => expect(relay.moved).toHaveLength(20));
  await eventually(async () => expect([await relay.waiting(), await relay.metric("outbox_held_events")]).toEqual([2_701, 2_701]));
  isStuck = false;
  await eventually(() => expect(relay.moved).toHaveLength(2_721));
  const ids = Map.groupBy(relay.moved, ({ record }) => record);
  expect(ids.get("stuck_0")?.map(({ id }) => id)).toEqual(["1", "2", "3", "2"]);
  expect(ids.get("stuck_899")?.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  await eventually(async () => expect(await relay.waiting()).toBe(0));
  expect(relay.moved).toHaveLength(2_721);
  await eventually(async () => expect(await relay.metric("outbox_held_events")).toBe(0));
});

it("is unhealthy while no partition takes events, and healthy while one does", async () => {
  let isStuck = true;
  const relay = partlyRefused(
    (events) => events.map(({ record }) => (isStuck && record === "stuck_0" ? "partition" : undefined)),
    () => !isStuck,
  );
  const running = relay.start();
  await eventually(() => expect(running.isHealthy).toBe(true));
  await relay.change("1", ["stuck_0"]);
  await eventually(() => expect(running.isHealthy).toBe(false));
  isStuck = false;
  await eventually(() => expect(running.isHealthy).toBe(true));
  await eventually(() => expect(relay.moved).toHaveLength(1));
});

it("holds only the record of an event that is too large, says so, and moves it once the topic takes it", async () => {
  let isSmall = true;
  const relay = partlyRefused((events) => {
    const first = events.findIndex(({ record, id }) => isSmall && record === "large_0" && id === "huge");
    return events.map(({ record }, index) => {
      if (first === -1 || record !== "large_0" || index < first) return undefined;
      return index === first ? "too_large" : "behind";
    });
  });
  for (const id of ["1", "huge", "3"]) await relay.change(id, ["large_0", "other_0"]);
  relay.start();
  const idsOf = (record: string): string[] => relay.moved.filter((each) => each.record === record).map(({ id }) => id);
  await eventually(() => expect(idsOf("other_0")).toEqual(["1", "huge", "3"]));
  await relay.change("4", ["large_0", "other_0"]);
  await eventually(() => expect(idsOf("other_0")).toEqual(["1", "huge", "3", "4"]));
  expect(idsOf("large_0")).toEqual(["1"]);
  expect(relay.errors[0]).toEqual(
    expect.objectContaining({ record_id: "large_0", brand_id: "brd_1", type: "payout.paid", bytes: expect.any(Number) }),
  );
  const metrics = ["outbox_held_events", "outbox_too_large_events"];
  await eventually(async () => expect(await Promise.all(metrics.map(relay.metric))).toEqual([3, 1]));
  isSmall = false;
  await eventually(() => expect(idsOf("large_0")).toEqual(["1", "huge", "3", "4"]));
  await eventually(async () => expect(await relay.waiting()).toBe(0));
  expect(relay.moved).toHaveLength(8);
  // It was tried at least twice.
  expect(relay.errors).toHaveLength(1);
});
