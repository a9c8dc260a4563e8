import { randomUUID } from "node:crypto";
import type { GetUsageRequest } from "@brand-records/proto/accounts/v1";
import { callContext, serveAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

const MINUTE_MS = 60_000;

let served: ServedAccounts;
let brand: TestBrand;
let key: string;
beforeAll(async () => {
  served = await serveAccounts();
});
beforeEach(async () => {
  brand = await served.createBrand();
  key = (await served.createKey(brand)).id;
});
afterAll(() => served.stop());

/** Midnight, so that hours and days begin there, a day ago. */
const START = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000;
const at = (minutes: number): string => new Date(START + minutes * MINUTE_MS).toISOString();
const count = (minutes: number, accepted: number, refused = 0, of = { brand_id: brand.id, key_id: key }) => ({
  ...of,
  minute: at(minutes),
  accepted,
  refused,
});
const record = async (minutes: ReturnType<typeof count>[], batch_id: string = randomUUID(), by = served): Promise<boolean> =>
  (await by.usage.recordUsage({ batch_id, minutes }, callContext())).recorded;
const get = async (given: Partial<GetUsageRequest> = {}) => {
  const request = { brand_id: brand.id, from: at(0), to: at(1_440), bucket_minutes: 0, by_key: false, ...given };
  return (await served.usage.getUsage(request, callContext())).buckets;
};

it("adds up what several gateways count in a minute", async () => {
  await record([count(0, 5, 1), count(1, 2)]);
  await record([count(0, 10, 3), count(0, 1)]);
  expect(await get()).toEqual([
    { start: at(0), key_id: null, accepted: 16, refused: 4, peak_accepted: 16 },
    { start: at(1), key_id: null, accepted: 2, refused: 0, peak_accepted: 2 },
  ]);
});

it("adds a repeated batch once, also when its repetitions arrive together", async () => {
  const batch = randomUUID();
  expect(await record([count(0, 5)], batch)).toBe(true);
  expect(await record([count(0, 5)], batch)).toBe(false);
  const other = randomUUID();
  const recorded = await Promise.all(Array.from({ length: 6 }, () => record([count(1, 7)], other)));
  expect(recorded.filter(Boolean)).toHaveLength(1);
  expect((await get()).map(({ accepted }) => accepted)).toEqual([5, 7]);
});

it("lets many gateways add to the same minutes at once, in whatever order, and loses nothing", async () => {
  const keys = [key];
  for (let i = 0; i < 4; i += 1) keys.push((await served.createKey(brand)).id);
  const all = keys.flatMap((key_id) => Array.from({ length: 20 }, (_, minute) => count(minute, 1, 1, { brand_id: brand.id, key_id })));
  const other = await served.alsoWith({});
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => record(i % 2 === 0 ? all : all.toReversed(), randomUUID(), i % 3 === 0 ? other : served)),
  );
  expect(await get({ bucket_minutes: 60 })).toEqual([{ start: at(0), key_id: null, accepted: 1_200, refused: 1_200, peak_accepted: 60 }]);
});

it("counts by key, and in larger buckets with their busiest minute", async () => {
  const second = (await served.createKey(brand)).id;
  const ofSecond = { brand_id: brand.id, key_id: second };
  await record([count(0, 5), count(0, 6, 0, ofSecond), count(59, 9, 2), count(60, 1, 0, ofSecond)]);
  expect(await get({ bucket_minutes: 60 })).toEqual([
    { start: at(0), key_id: null, accepted: 20, refused: 2, peak_accepted: 11 },
    { start: at(60), key_id: null, accepted: 1, refused: 0, peak_accepted: 1 },
  ]);
  expect(await get({ bucket_minutes: 60, by_key: true })).toEqual(
    [
      { start: at(0), key_id: key, accepted: 14, refused: 2, peak_accepted: 9 },
      { start: at(0), key_id: second, accepted: 6, refused: 0, peak_accepted: 6 },
      { start: at(60), key_id: second, accepted: 1, refused: 0, peak_accepted: 1 },
    ].toSorted((a, b) => (a.start + a.key_id < b.start + b.key_id ? -1 : 1)),
  );
});

it("begins buckets at `from`, such as a midnight in Manila, and ends before `to`", async () => {
  await record([count(479, 1), count(480, 2), count(1_439, 4)]);
  expect(await get({ from: at(480), to: at(1_439), bucket_minutes: 1_440 })).toEqual([
    { start: at(480), key_id: null, accepted: 2, refused: 0, peak_accepted: 2 },
  ]);
});

it("ignores keys that the brand does not have, and shows a brand nothing of another", async () => {
  const theirs = await served.createBrand();
  const theirKey = (await served.createKey(theirs)).id;
  await record([
    count(0, 1, 0, { brand_id: brand.id, key_id: theirKey }),
    count(0, 1, 0, { brand_id: theirs.id, key_id: key }),
    count(0, 1, 0, { brand_id: brand.id, key_id: "key_unknown" }),
    count(0, 8),
  ]);
  expect((await get()).map(({ accepted }) => accepted)).toEqual([8]);
  expect(await get({ brand_id: theirs.id })).toEqual([]);
  await expect(get({ brand_id: "brd_unknown" })).rejects.toMatchObject({ kind: "not_found" });
});

it("ignores minutes that are not kept, and those of a clock that is ahead", async () => {
  const now = Math.round((Date.now() - START) / MINUTE_MS);
  await record([count(now - 32 * 1_440, 1), count(now + 15, 1), count(now, 3), count(now + 5, 4)]);
  const rows = await served.db.query<{ accepted: number }>("select accepted from accounts.usage_minutes where brand_id = $1 order by 1", [
    brand.id,
  ]);
  expect(rows.map(({ accepted }) => accepted)).toEqual([3, 4]);
});

it.each([
  ["an empty range", { to: at(0) }, "to"],
  ["more than 3,000 buckets", { from: at(-3_001), to: at(0) }, "bucket_minutes"],
  ["a bucket of more than a day", { bucket_minutes: 1_441 }, "bucket_minutes"],
  ["a time that is not one", { from: "yesterday" }, "from"],
])("refuses %s", async (_, given, field) => {
  await expect(get(given)).rejects.toMatchObject({ kind: "invalid_request", field });
});

it("refuses a batch without an id, with a negative count, or too large, and records nothing of it", async () => {
  await expect(record([count(0, 1)], "1")).rejects.toMatchObject({ kind: "invalid_request", field: "batch_id" });
  await expect(record([count(0, 1), count(1, -1)])).rejects.toMatchObject({ kind: "invalid_request", field: "minutes.1.accepted" });
  const many = Array.from({ length: 5_001 }, () => count(0, 1));
  await expect(record(many)).rejects.toMatchObject({ kind: "invalid_request", field: "minutes" });
  expect(await get()).toEqual([]);
});
