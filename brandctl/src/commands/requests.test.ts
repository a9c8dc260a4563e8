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
