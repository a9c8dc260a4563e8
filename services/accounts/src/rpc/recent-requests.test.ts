import { randomUUID } from "node:crypto";
import { type ListRequestsRequest, type ServedRequest, ServedRequests } from "@brand-records/proto/accounts/v1";
import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { REQUESTS_PER_BRAND_MAX } from "../domain/recent-requests.ts";
import { deleteOldRequests } from "../storage/recent-requests.ts";

const served = servedAccounts();
let brand: TestBrand;
let key: string;
beforeEach(async () => {
  brand = await served.createBrand();
  key = (await served.createKey(brand)).id;
});

const NOW = Date.now();
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1_000).toISOString();
const request = (secondsAgo: number, more: Partial<ServedRequest> = {}): ServedRequest => ({
  at: at(secondsAgo),
  key_id: key,
  route: "GET /api/v1/payouts",
  http_status: 200,
  code: "",
  duration_ms: 12,
  request_id: `r${secondsAgo}`,
  client: "ledger-sync",
  ...more,
});
const ofBrand = (requests: ServedRequest[], brand_id = brand.id) => ({
  brand_id,
  count: requests.length,
  requests: Buffer.from(ServedRequests.encode({ requests }).finish()),
});
const record = (requests: ReturnType<typeof ofBrand>[], batch_id: string = randomUUID(), by = served) =>
  by.usage.recordUsage({ batch_id, minutes: [], clients: [], failures: [], requests });
const list = (given: Partial<ListRequestsRequest> = {}, by = served) =>
  by.usage.listRequests({ brand_id: brand.id, page_size: 0, ...given });
const idsOf = async (given: Partial<ListRequestsRequest> = {}): Promise<string[]> =>
  (await list(given)).requests.map(({ request_id }) => request_id);
const batchesOf = async (brandId = brand.id): Promise<number> =>
  (await served.db.query("select from accounts.recent_requests where brand_id = $1", [brandId])).length;
/** A thousand requests, the newest last. */
const thousand = (until: number): ServedRequest[] => Array.from({ length: 1_000 }, (_, n) => request(until + 999 - n));

it("lists what several gateways record by time, each batch once, with all that is kept of each", async () => {
  const batch = randomUUID();
  expect(await record([ofBrand([request(9), request(5)])], batch)).toEqual({ recorded: true, keeps_requests: true });
  expect(await record([ofBrand([request(9), request(5)])], batch)).toEqual({ recorded: false, keeps_requests: true });
  await record([ofBrand([request(7, { http_status: 404, code: "unknown_resource", route: "GET /api/*" }), request(3)])]);
  expect(await list()).toEqual({
    requests: [request(3), request(5), request(7, { http_status: 404, code: "unknown_resource", route: "GET /api/*" }), request(9)],
    next_page_token: null,
    routes: ["GET /api/*", "GET /api/v1/payouts"],
    statuses: [200, 404],
    keys: [expect.objectContaining({ id: key, name: "Reports" })],
    keep_hours: 24,
  });
});

it("waits for no batch that counts clients, and lets that of no requests wait for it", async () => {
  await served.db.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('accounts.usage_clients', 0))");
    expect(await record([ofBrand([request(1)])])).toMatchObject({ recorded: true });
  });
  await served.db.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('accounts.recent_requests', 0))");
    const clients = [{ brand_id: brand.id, key_id: key, day: at(0).slice(0, 10), name: "cursor", messages: 1, connecting: 0 }];
    const batch = { batch_id: randomUUID(), minutes: [], clients, failures: [], requests: [] };
    expect(await served.usage.recordUsage(batch)).toMatchObject({ recorded: true });
  });
});

it("selects by key, route, status and request id, and says of the others what there is to select", async () => {
  const second = (await served.createKey(brand)).id;
  const tool = { route: "POST /api/mcp tools/call list_payouts", code: "invalid_parameter" };
  const requests = [
    request(5, { key_id: second, http_status: 429, code: "rate_limited" }),
    request(4, tool),
    request(3, { http_status: 499 }),
    request(2, { request_id: "same" }),
    request(1, { request_id: "same", http_status: 201 }),
  ];
  await record([ofBrand(requests)]);
  expect(await idsOf({ key_id: second })).toEqual(["r5"]);
  expect(await idsOf({ route: tool.route })).toEqual(["r4"]);
  expect(await idsOf({ status: "failed" })).toEqual(["r3", "r4", "r5"]);
  expect(await idsOf({ status: "succeeded" })).toEqual(["same", "same"]);
  expect(await idsOf({ status: "200" })).toEqual(["same", "r4"]);
  expect(await idsOf({ request_id: "same", status: "201" })).toEqual(["same"]);
  expect(await list({ request_id: "none" })).toMatchObject({ requests: [], statuses: [200, 201, 429, 499], next_page_token: null });
});

it("lists in pages, of the same list alone, while others are recorded", async () => {
  // Gateways know milliseconds: several requests have the same time.
  await record([ofBrand(Array.from({ length: 5 }, (_, n) => request(60, { request_id: `a${n}` })))]);
  const first = await list({ page_size: 2 });
  await record([ofBrand([request(1), request(90)])]);
  const second = await list({ page_size: 2, page_token: first.next_page_token });
  const third = await list({ page_size: 2, page_token: second.next_page_token });
  const ids = [first, second, third].map(({ requests }) => requests.map(({ request_id }) => request_id));
  expect([ids, third.next_page_token]).toEqual([
    [
      ["a4", "a3"],
      ["a2", "a1"],
      ["a0", "r90"],
    ],
    null,
  ]);
  await expectRefusal(list({ page_size: 2, page_token: first.next_page_token, status: "failed" }), "invalid_cursor", "page_token");
});

it("keeps of each brand the last 1,000, and deletes with each batch what is beyond", async () => {
  const quiet = await served.createBrand();
  const theirs = ofBrand([request(3_600, { key_id: (await served.createKey(quiet)).id })], quiet.id);
  await record([theirs, ofBrand(thousand(2_000))]);
  for (let n = 1_999; n >= 1_990; n -= 1) await record([ofBrand([request(n)])]);
  expect([await batchesOf(), (await list({ page_size: 1_000 })).requests.length]).toEqual([11, REQUESTS_PER_BRAND_MAX]);
  await record([ofBrand(thousand(0))]);
  expect([await batchesOf(), await batchesOf(quiet.id)]).toEqual([1, 1]);
  const { requests } = await list({ page_size: 1_000 });
  expect([requests.length, requests[0], requests.at(-1)]).toEqual([1_000, request(0), request(999)]);
});

it("numbers a brand's requests without a gap while many gateways record at once", async () => {
  const other = await served.alsoWith({});
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => record([ofBrand([request(n), request(n)])], randomUUID(), n % 2 === 0 ? served : other)),
  );
  const rows = await served.db.query<{ until: number }>("select until from accounts.recent_requests where brand_id = $1 order by 1", [
    brand.id,
  ]);
  expect(rows.map(({ until }) => until)).toEqual(Array.from({ length: 40 }, (_, n) => 2 * (n + 1)));
});

it("keeps nothing of brands that do not exist, and shows none of another brand, and nothing older than a day", async () => {
  const other = await served.createBrand();
  await record([ofBrand([request(86_500), request(5)]), ofBrand([request(4)], "brd_unknown")]);
  expect(await idsOf()).toEqual(["r5"]);
  expect(await idsOf({ brand_id: other.id })).toEqual([]);
  expect(await batchesOf("brd_unknown")).toBe(0);
  await expectRefusal(list({ brand_id: "brd_unknown" }), "not_found");
});

it("keeps none where they are switched off, tells gateways so, and deletes those that there are", async () => {
  const off = await served.alsoWith({ requestsKeepHours: 0 });
  await record([ofBrand([request(5)])]);
  expect(await record([ofBrand([request(4)])], randomUUID(), off)).toEqual({ recorded: true, keeps_requests: false });
  expect(await list({}, off)).toMatchObject({ requests: [], keep_hours: 0 });
  expect(await batchesOf()).toBe(1);
  while ((await deleteOldRequests(served.db, 0, 1_000)) > 0);
  expect(await batchesOf()).toBe(0);
});

it.each([
  [{ count: 0 }, "requests.0.count"],
  [{ count: 1_001 }, "requests.0.count"],
  [{ brand_id: "x" }, "requests.0.brand_id"],
])("refuses %j", async (more, field) => {
  await expectRefusal(record([{ ...ofBrand([request(1)]), ...more }]), "invalid_request", field);
});

it.each<[Partial<ListRequestsRequest>, string]>([
  [{ status: "6xx" }, "status"],
  [{ route: "any" }, "route"],
  [{ page_size: 1_001 }, "page_size"],
])("refuses to list %j", async (given, field) => {
  await expectRefusal(list(given), "invalid_request", field);
});
