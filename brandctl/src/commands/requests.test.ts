import { type ServedRequest, ServedRequests } from "@brand-records/proto/accounts/v1";
import { startProduct, type TestBrand } from "../../test/product.ts";
import type { Outcome } from "../../test/test-terminal.ts";

const product = startProduct();
let brand: TestBrand;
let key: string;
/** The last whole minute. */
const AT = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 60_000).toISOString();
beforeEach(async () => {
  brand = await product.createBrand();
  ({
    key: { id: key },
  } = (await product.run(`keys create --brand ${brand.id} --name R --json`)).json<{ key: { id: string } }>());
});
const run = (options = ""): Promise<Outcome> => product.run(`requests list --brand ${brand.id} ${options}`.trim());
const fail = (code: string, requests: number): Promise<unknown> =>
  product.db.query(
    `insert into accounts.failed_requests (brand_id, minute, key_id, route, code, field, requests, request_ids)
     values ($1, $2, $3, 'GET /api/v1/payouts', $4, 'limit', $5, '{r1}')`,
    [brand.id, AT, key, code, requests],
  );

it("lists what failed in columns, the most frequent first", async () => {
  await fail("rate_limited", 3);
  await fail("invalid_parameter", 1_200);
  const time = AT.slice(0, 16).replace("T", " ");
  expect((await run()).stdout.split("\n")).toEqual([
    "REQUESTS  CODE               FIELD  ROUTE                KEY                             LAST (UTC)",
    `   1,200  invalid_parameter  limit  GET /api/v1/payouts  ${key}  ${time}`,
    `       3  rate_limited       limit  GET /api/v1/payouts  ${key}  ${time}`,
    "",
  ]);
});

it("filters, of seven days by default, and has the counts and request ids with --json", async () => {
  await fail("rate_limited", 12);
  await fail("invalid_parameter", 1);
  const requests: object[] = [];
  product.intercepts.set("accounts.listFailedRequests", (request: object, forward) => {
    requests.push(request);
    return forward();
  });
  expect((await run(`--key ${key} --code rate_limited --json`)).json()).toMatchObject({
    groups: [{ code: "rate_limited", request_ids: ["r1"] }],
    buckets: [{ requests: 12 }],
  });
  await run("--until 2026-11-22T00:00:00Z");
  await run("--since 2026-11-21T00:00:00Z");
  expect(requests).toMatchObject([
    { key_id: key, code: "rate_limited" },
    { from: "2026-11-15T00:00:00.000Z", to: "2026-11-22T00:00:00.000Z" },
    { from: "2026-11-21T00:00:00.000Z" },
  ]);
  expect((await run("--key rcv_1")).code).toBe(2);
});

it("says that nothing failed, that there is more, and that older counts are gone", async () => {
  expect((await run()).stdout).toBe("No such request has failed.\n");
  const more = { has_more_groups: true, counted_since: "2026-11-20T08:00:00.000Z" };
  product.intercepts.set("accounts.listFailedRequests", async (_, forward) => ({ ...((await forward()) as object), ...more }));
  const { stderr } = await run();
  expect(stderr).toContain("Limited to the 200");
  expect(stderr).toContain("before 2026-11-20 08:00 UTC");
});

const recent = (options = ""): Promise<Outcome> => product.run(`requests recent --brand ${brand.id} ${options}`.trim());
const serve = (...requests: Partial<ServedRequest>[]): Promise<unknown> => {
  const served = { at: AT, key_id: key, route: "GET /api/v1/payouts", http_status: 200, code: "", duration_ms: 1_234, client: "node" };
  const message = ServedRequests.encode({ requests: requests.map((more, n) => ({ ...served, request_id: `r${n}`, ...more })) });
  return product.db.query("insert into accounts.recent_requests (brand_id, until, requests) values ($1, $2, $3)", [
    brand.id,
    requests.length,
    Buffer.from(message.finish()),
  ]);
};

it("lists the last requests in columns, the newest first, and that with an id", async () => {
  await serve({ at: `${AT.slice(0, 17)}01.000Z`, http_status: 429, code: "rate_limited", request_id: "order-sync-4711" }, {});
  const time = `${AT.slice(0, 10)} ${AT.slice(11, 16)}`;
  const row = `GET /api/v1/payouts  ${key}  node    order-sync-4711`;
  expect((await recent()).stdout.split("\n")).toEqual([
    `TIME (UTC)           STATUS               MS  ROUTE                KEY${" ".repeat(key.length - 1)}CLIENT  REQUEST ID`,
    `${time}:01  429 rate_limited  1,234  ${row}`,
    `${time}:00  200               1,234  ${row.replace("order-sync-4711", "r1")}`,
    "",
  ]);
  const { requests } = (await recent("--id order-sync-4711 --status failed --json")).json<{ requests: object[] }>();
  expect(requests).toMatchObject([{ request_id: "order-sync-4711", http_status: 429, key_id: key }]);
  expect((await recent("--limit 1")).stderr).toContain("Limited to 1");
});

it("says that there is no such request, or that none are kept", async () => {
  expect((await recent("--id none")).stdout).toBe("No such request.\n");
  product.intercepts.set("accounts.listRequests", async (_, forward) => ({ ...((await forward()) as object), keep_hours: 0 }));
  expect((await recent()).stdout).toContain("REQUESTS_RETENTION_HOURS");
});
