import { createDatabase, eventually, type TcpProxy, type TestDatabase } from "@brand-records/testkit";
import { proxied } from "../test/proxied.ts";
import { startNotifier } from "./notifier.ts";
import { openPool, type Database } from "./pool.ts";

let database: TestDatabase;
let db: Database;
let proxy: TcpProxy;
let url: string;
let notifier: { stop(): Promise<void> };
let disconnects: number;
let calls: { orders: number; refunds: number };
beforeAll(async () => {
  database = await createDatabase("empty");
  db = openPool({ url: database.url, applicationName: "notifier test's own" });
});
beforeEach(async () => {
  ({ proxy, url } = await proxied(database.url));
  disconnects = 0;
  calls = { orders: 0, refunds: 0 };
  notifier = startNotifier({
    url,
    applicationName: "notifier test",
    subscriptions: { orders: () => void (calls.orders += 1), refunds: () => void (calls.refunds += 1) },
    onDisconnect: () => void (disconnects += 1),
  });
  await eventually(() => expect(calls).toEqual({ orders: 1, refunds: 1 }));
});
afterEach(async () => {
  await notifier.stop();
  await proxy.stop();
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

it("calls the subscription of the channel only", async () => {
  await db.query("notify refunds");
  await eventually(() => expect(calls).toEqual({ orders: 1, refunds: 2 }));
});

it("reconnects after a lost connection, and then calls every subscription", async () => {
  await db.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'notifier test'");
  await eventually(() => expect(calls).toEqual({ orders: 2, refunds: 2 }));
  expect(disconnects).toBeGreaterThan(0);
  await db.query("notify orders");
  await eventually(() => expect(calls).toEqual({ orders: 3, refunds: 2 }));
});

it("pauses longer after each failure, for a random part of 10 s at most, and shortly again after it listened", async () => {
  const pauses: number[] = [];
  let listened = 0;
  const reconnecting = { random: () => 0.5, pause: async (ms: number) => void pauses.push(ms) };
  const subscriptions = { orders: () => void (listened += 1) };
  const impatient = startNotifier({ url, applicationName: "impatient", subscriptions, onDisconnect: () => {}, reconnecting });
  try {
    await eventually(() => expect(listened).toBe(1));
    await proxy.cut();
    await eventually(() => expect(pauses.length).toBeGreaterThanOrEqual(9));
    expect(pauses.slice(0, 9)).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    await proxy.heal();
    await eventually(() => expect(listened).toBe(2));
    const before = pauses.length;
    await proxy.cut();
    await eventually(() => expect(pauses.length).toBeGreaterThan(before));
    expect(pauses[before]).toBe(50);
  } finally {
    await impatient.stop();
  }
});

it("stops even if the server does not respond", async () => {
  await proxy.blackhole();
  await notifier.stop();
});
