import type { Database } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { servedAccounts, type TestBrand } from "../test/serve-accounts.ts";
import { startKeyUsage } from "./key-usage.ts";
import { writeLastUses } from "./storage/keys.ts";

const log = openLog("accounts", "silent");
const served = servedAccounts();
let brand: TestBrand;
beforeEach(async () => {
  brand = await served.createBrand();
});
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "setTimeout", "queueMicrotask", "Date", "performance"] });
});
afterEach(() => jest.useRealTimers());

const lastUses = async (): Promise<Record<string, string | null | undefined>> => {
  const { keys } = await served.accounts.listKeys({ brand_id: brand.id, ids: [] });
  return Object.fromEntries(keys.map(({ id, last_used_at }) => [id, last_used_at]));
};

/** The service's database. Counts statements and fails the first `failures`. */
function countingDatabase(failures = 0): Database & { statements: number } {
  const db = {
    ...served.db,
    statements: 0,
    query: async <Row>(...parameters: Parameters<Database["query"]>): Promise<Row[]> => {
      db.statements += 1;
      if (db.statements <= failures) throw new Error("the database is unavailable");
      return served.db.query<Row>(...parameters);
    },
  };
  return db;
}

it("writes all unwritten uses in one statement before it stops", async () => {
  const ids = [(await served.createKey(brand)).id, (await served.createKey(brand)).id];
  const unused = (await served.createKey(brand)).id;
  const db = countingDatabase();
  const usage = startKeyUsage(db, Date, log);
  const before = Date.now();
  for (let i = 0; i < 1_000; i += 1) usage.record(ids[i % 2] ?? "");
  expect(db.statements).toBe(0);
  await usage.stop();
  expect(db.statements).toBe(1);
  const written = await lastUses();
  for (const at of ids.map((id) => Date.parse(written[id] ?? ""))) {
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  }
  expect(written[unused]).toBeNull();
});

it("writes every few seconds, and only if a key was used", async () => {
  const { id } = await served.createKey(brand);
  const db = countingDatabase();
  const usage = startKeyUsage(db, Date, log);
  jest.advanceTimersByTime(60_000);
  expect(db.statements).toBe(0);
  usage.record(id);
  jest.advanceTimersByTime(10_000);
  await eventually(async () => expect((await lastUses())[id]).not.toBeNull());
  expect(db.statements).toBe(1);
  await usage.stop();
  expect(db.statements).toBe(1);
});

it("keeps uses that could not be written for the next flush", async () => {
  const { id } = await served.createKey(brand);
  const db = countingDatabase(1);
  const usage = startKeyUsage(db, Date, log);
  usage.record(id);
  jest.advanceTimersByTime(5_000);
  await eventually(() => expect(db.statements).toBe(1));
  await usage.stop();
  expect(Date.parse((await lastUses())[id] ?? "")).not.toBeNaN();
});

it("never moves last_used_at back, whichever replica writes last, nor fails for a key that no longer exists", async () => {
  const { id } = await served.createKey(brand);
  const later = Date.UTC(2026, 10, 21, 8, 30);
  await writeLastUses(served.db, new Map([["key_gone", later]]).set(id, later));
  await writeLastUses(served.db, new Map([[id, later - 60_000]]));
  expect((await lastUses())[id]).toBe("2026-11-21T08:30:00.000Z");
});

it("lets 20 replicas write the same keys concurrently", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) ids.push((await served.createKey(brand)).id);
  const at = Date.UTC(2026, 10, 21);
  const batches = Array.from({ length: 20 }, (_, i) => new Map((i % 2 === 0 ? ids : ids.toReversed()).map((id) => [id, at + i])));
  await Promise.all(batches.map((batch) => writeLastUses(served.db, batch)));
  expect(Object.values(await lastUses())).toEqual(ids.map(() => "2026-11-21T00:00:00.019Z"));
});
