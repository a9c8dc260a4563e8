import type { Database } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { callContext, serveAccounts, type ServedAccounts, type TestBrand } from "../test/serve-accounts.ts";
import { startKeyUses } from "./key-uses.ts";
import { noteKeyUses } from "./storage/keys.ts";

const log = openLog("accounts", "silent");
let served: ServedAccounts;
let brand: TestBrand;
beforeAll(async () => {
  served = await serveAccounts();
});
beforeEach(async () => {
  brand = await served.createBrand();
});
afterEach(() => jest.useRealTimers());
afterAll(() => served.stop());

const lastUses = async (): Promise<Record<string, string | null | undefined>> => {
  const { keys } = await served.accounts.listKeys({ brand_id: brand.id }, callContext());
  return Object.fromEntries(keys.map(({ id, last_used_at }) => [id, last_used_at]));
};

/** The service's database, counting its statements and failing the first `failures` of them. */
function counting(failures = 0): Database & { statements: number } {
  const db = {
    ...served.db,
    statements: 0,
    query: async <Row>(...parameters: Parameters<Database["query"]>): Promise<Row[]> => {
      db.statements += 1;
      if (db.statements <= failures) throw new Error("the database is away");
      return served.db.query<Row>(...parameters);
    },
  };
  return db;
}

it("writes what was not written yet before it stops, however many uses in one statement", async () => {
  const ids = [(await served.createKey(brand)).id, (await served.createKey(brand)).id];
  const unused = (await served.createKey(brand)).id;
  const db = counting();
  const uses = startKeyUses(db, log);
  const before = Date.now();
  for (let i = 0; i < 1_000; i += 1) uses.note(ids[i % 2] ?? "");
  expect(db.statements).toBe(0);
  await uses.stop();
  expect(db.statements).toBe(1);
  const written = await lastUses();
  for (const id of ids) {
    expect(Date.parse(written[id] ?? "")).toBeGreaterThanOrEqual(before);
    expect(Date.parse(written[id] ?? "")).toBeLessThanOrEqual(Date.now());
  }
  expect(written[unused]).toBeNull();
});

it("writes by itself every few seconds, and nothing when nothing was used", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "setTimeout", "queueMicrotask", "Date", "performance"] });
  const { id } = await served.createKey(brand);
  const db = counting();
  const uses = startKeyUses(db, log);
  jest.advanceTimersByTime(60_000);
  expect(db.statements).toBe(0);
  uses.note(id);
  jest.advanceTimersByTime(10_000);
  await eventually(async () => expect((await lastUses())[id]).not.toBeNull());
  expect(db.statements).toBe(1);
  await uses.stop();
  expect(db.statements).toBe(1);
});

it("keeps what could not be written for the next time", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "setTimeout", "queueMicrotask", "Date", "performance"] });
  const { id } = await served.createKey(brand);
  const db = counting(1);
  const uses = startKeyUses(db, log);
  uses.note(id);
  jest.advanceTimersByTime(5_000);
  await eventually(() => expect(db.statements).toBe(1));
  await uses.stop();
  expect(Date.parse((await lastUses())[id] ?? "")).not.toBeNaN();
});

it("never moves a last use back, whichever replica writes last", async () => {
  const { id } = await served.createKey(brand);
  const later = Date.UTC(2026, 10, 21, 8, 30);
  await noteKeyUses(served.db, new Map([[id, later]]));
  await noteKeyUses(served.db, new Map([[id, later - 60_000]]));
  expect((await lastUses())[id]).toBe("2026-11-21T08:30:00.000Z");
});

it("many replicas may write the same keys at once", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) ids.push((await served.createKey(brand)).id);
  const at = Date.UTC(2026, 10, 21);
  const batches = Array.from({ length: 20 }, (_, i) => new Map((i % 2 === 0 ? ids : ids.toReversed()).map((id) => [id, at + i])));
  await Promise.all(batches.map((batch) => noteKeyUses(served.db, batch)));
  expect(Object.values(await lastUses())).toEqual(ids.map(() => "2026-11-21T00:00:00.019Z"));
});

it("a key that is gone meanwhile is no reason not to write the others", async () => {
  const { id } = await served.createKey(brand);
  const at = Date.UTC(2026, 10, 21);
  await noteKeyUses(served.db, new Map([["key_gone", at]]).set(id, at));
  expect((await lastUses())[id]).toBe("2026-11-21T00:00:00.000Z");
});
