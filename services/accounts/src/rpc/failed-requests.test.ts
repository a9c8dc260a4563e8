import { randomUUID } from "node:crypto";
import type { FailedMinute, ListFailedRequestsRequest } from "@brand-records/proto/accounts/v1";
import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { FAILURES_PER_BRAND_MAX } from "../domain/failed-requests.ts";
import { deleteFailuresBeyond, walkFailuresBeyond } from "../storage/failed-requests.ts";

const MINUTE_MS = 60_000;
/** The last whole hour. */
const END = Math.floor(Date.now() / 3_600_000) * 3_600_000;
const at = (minutesAgo: number): string => new Date(END - minutesAgo * MINUTE_MS).toISOString();

const served = servedAccounts();
let brand: TestBrand;
let key: string;
beforeEach(async () => {
  brand = await served.createBrand();
  key = (await served.createKey(brand)).id;
});

const failed = (minutesAgo: number, request_ids: string[], more: Partial<FailedMinute> = {}): FailedMinute => ({
  brand_id: brand.id,
  key_id: key,
  minute: at(minutesAgo),
  route: "GET /api/v1/payouts",
  code: "invalid_parameter",
  field: "limit",
  requests: request_ids.length,
  request_ids,
  ...more,
});
const record = async (failures: FailedMinute[], batch_id: string = randomUUID()): Promise<boolean> =>
  (await served.usage.recordUsage({ batch_id, minutes: [], clients: [], failures, requests: [] })).recorded;
const list = (given: Partial<ListFailedRequestsRequest> = {}) =>
  served.usage.listFailedRequests({ brand_id: brand.id, from: at(1_440), to: at(-60), bucket_minutes: 1_440, ...given });

/** A week of failures: each minute one row of each of `kinds` kinds, of a brand that has such a week. */
const fill = (brandId: string, keyId: string, rows: number, kinds: number): Promise<unknown> =>
  served.db.query(
    `insert into accounts.failed_requests (brand_id, minute, key_id, route, code, field, requests, request_ids)
     select $1, $3::timestamptz - make_interval(mins => n / $5::int), $2, 'GET /api/v1/payouts', 'invalid_parameter', 'kind_' || chr(97 + n % $5), 3,
            array(select gen_random_uuid()::text from generate_series(1, 3))
       from generate_series(0, $4::int - 1) n`,
    [brandId, keyId, new Date(END).toISOString(), rows, kinds],
  );

it("adds up what several gateways count, each batch once, with the last request ids", async () => {
  const batch = randomUUID();
  expect(await record([failed(5, ["a1", "a2", "a3"])], batch)).toBe(true);
  expect(await record([failed(5, ["a1", "a2", "a3"])], batch)).toBe(false);
  await record([failed(5, ["b1", "b2", "b3"]), failed(3, ["c1"]), failed(3, ["c2"])]);
  const group = { key_id: key, route: "GET /api/v1/payouts", code: "invalid_parameter", field: "limit" };
  expect(await list()).toEqual({
    keys: [expect.objectContaining({ id: key, name: "Reports" })],
    groups: [{ ...group, requests: 8, first_at: at(5), last_at: at(3), request_ids: ["c2", "c1", "b3", "b2", "b1"] }],
    has_more_groups: false,
    buckets: [{ start: at(1_440), requests: 8 }],
    counted_since: null,
  });
  expect((await list({ bucket_minutes: 1 })).buckets).toEqual([
    { start: at(5), requests: 6 },
    { start: at(3), requests: 2 },
  ]);
});

it("groups by key, route, code and field, the most frequent first, and selects by each", async () => {
  const second = (await served.createKey(brand)).id;
  await record([
    failed(9, ["a"]),
    failed(8, ["b", "c"], { key_id: second }),
    failed(7, ["d", "e", "f"], { route: "POST /api/mcp tools/call list_payouts" }),
    failed(6, ["g"], { requests: 4, code: "rate_limited", field: "" }),
    failed(5, ["k"], { requests: 5, field: "*" }),
  ]);
  const requests = async (given: Partial<ListFailedRequestsRequest> = {}): Promise<number[]> =>
    (await list(given)).groups.map((group) => group.requests);
  expect(await requests()).toEqual([5, 4, 3, 2, 1]);
  expect(await requests({ key_id: second })).toEqual([2]);
  expect(await requests({ route: "POST /api/mcp tools/call list_payouts" })).toEqual([3]);
  expect(await requests({ code: "rate_limited" })).toEqual([4]);
  expect(await requests({ field: "" })).toEqual([4]);
  expect(await requests({ field: "*", code: "invalid_parameter" })).toEqual([5]);
  expect(await requests({ from: at(6), to: at(5) })).toEqual([4]);
  expect((await list({ code: "rate_limited" })).buckets).toEqual([{ start: at(1_440), requests: 4 }]);
});

it("keeps nothing of keys that the brand does not have, of other brands, and of times that are not kept", async () => {
  const other = await served.createBrand();
  await record([
    failed(5, ["a"], { key_id: "key_unknown" }),
    failed(5, ["b"], { brand_id: other.id }),
    failed(8 * 1_440, ["c"]),
    failed(-200, ["d"]),
  ]);
  expect((await list()).groups).toEqual([]);
  expect((await list({ brand_id: other.id })).groups).toEqual([]);
});

it.each<[Partial<FailedMinute>, string]>([
  [{ field: "ana@brand.example" }, "failures.0.field"],
  [{ route: "GET /api/v1/payouts?cursor=x" }, "failures.0.route"],
  [{ route: "/api/v1/payouts" }, "failures.0.route"],
  [{ code: "Not a code" }, "failures.0.code"],
  [{ request_ids: ["1", "2", "3", "4"] }, "failures.0.request_ids"],
  [{ request_ids: ["a b"] }, "failures.0.request_ids.0"],
])("refuses %j", async (more, field) => {
  await expectRefusal(record([failed(5, ["a"], more)]), "invalid_request", field);
});

it.each<[Partial<ListFailedRequestsRequest>, string]>([
  [{ from: at(9 * 1_440) }, "from"],
  [{ from: at(0), to: at(0) }, "to"],
  [{ bucket_minutes: 1, from: at(3_001), to: at(0) }, "bucket_minutes"],
  [{ route: "any" }, "route"],
])("refuses to list %j", async (given, field) => {
  await expectRefusal(list(given), "invalid_request", field);
});

it("lists 200 groups, and says that there are more", async () => {
  await served.db.query(
    `insert into accounts.failed_requests (brand_id, minute, key_id, route, code, field, requests, request_ids)
     select $1, $2, 'key_' || n, 'GET /api/v1/links', 'rate_limited', '', n, '{}' from generate_series(1, 201) n`,
    [brand.id, at(5)],
  );
  const { groups, has_more_groups } = await list();
  expect([groups.length, groups[0]?.requests, groups.at(-1)?.requests, has_more_groups]).toEqual([200, 201, 2, true]);
});

it("keeps of each brand the newest 10,000 counts; the list says since when", async () => {
  const other = await served.createBrand();
  await fill(other.id, key, 100, 1);
  await fill(brand.id, key, FAILURES_PER_BRAND_MAX + 300, 4);
  // Nothing failed just now.
  await served.db.query("update accounts.failed_requests set minute = minute - interval '48 hours'");
  expect(await deleteFailuresBeyond(served.db, FAILURES_PER_BRAND_MAX, 200)).toBe(0);
  const now = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS).toISOString();
  await record([failed(0, ["z"], { minute: now })]);
  const deleted = [];
  for (let n = 0; n < 3; n += 1) deleted.push(await deleteFailuresBeyond(served.db, FAILURES_PER_BRAND_MAX, 200));
  expect(deleted).toEqual([200, 101, 0]);
  const [left] = await served.db.query<{ rows: number; oldest: string }>(
    "select count(*) as rows, min(minute) as oldest from accounts.failed_requests where brand_id = $1",
    [brand.id],
  );
  expect(left?.rows).toBe(FAILURES_PER_BRAND_MAX);
  expect((await list({ bucket_minutes: 60 })).counted_since).toBe(left?.oldest);
  expect((await list({ brand_id: other.id })).counted_since).toBeNull();
});

it("finds a brand that has too many of old minutes, as it walks through all brands in parts, again and again", async () => {
  await served.db.query("truncate accounts.failed_requests");
  const [cap, limit, brandsAtOnce] = [10, 4, 2];
  const brands = ["brd_a", "brd_b", "brd_c", "brd_d"];
  const walk = walkFailuresBeyond(served.db, cap, brandsAtOnce);
  const kept = () => served.db.query("select count(*) as rows from accounts.failed_requests group by brand_id order by brand_id");
  const capOf = (count: number) => Array.from({ length: count }, () => ({ rows: cap }));
  expect(await walk(limit)).toBe(0);
  for (const [n, id] of brands.entries()) await fill(id, key, cap + 3 * n, 1);
  await served.db.query("update accounts.failed_requests set minute = minute - interval '48 hours'");
  expect(await deleteFailuresBeyond(served.db, cap, limit)).toBe(0);
  const deleted = [];
  for (let n = 0; n < 6; n += 1) deleted.push(await walk(limit));
  // a and b, then c and d until both are done. The walk begins once more: after d there is no brand.
  expect([deleted, await kept()]).toEqual([[3, 4, 4, 4, 3, 0], capOf(4)]);
  await fill("brd_e", key, cap + 1, 1);
  for (let n = 0; n < 4; n += 1) await walk(limit);
  expect(await kept()).toEqual(capOf(5));
});
