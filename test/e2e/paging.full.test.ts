import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { logOf, metricsOf } from "../admin-port.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: paging returns every record that existed at its start exactly once, newest first, while others are inserted. */

const ROWS = 10_000;
/** How many rows share each created_at: more than the largest page. */
const SHARING = 400;
const NEWEST = Date.UTC(2026, 10, 21);

let stack: Stack;
let brand: TestBrand;
let other: TestBrand;
let db: Database;

beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "10000" } });
  db = openPool({ url: stack.databaseUrl, max: 2, applicationName: "test" });
  [brand, other] = await Promise.all([stack.createBrand(), stack.createBrand()]);
  for (const { id } of [brand, other]) await insertLinks(id, ROWS, NEWEST);
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
});

/** Inserts `count` links, `SHARING` at each millisecond, backwards from `newest`. */
async function insertLinks(brandId: string, count: number, newest: number): Promise<void> {
  await db.query(
    `insert into records.links
     select $1, 'lnk_' || md5(random()::text || i), at, at, 'cmp_1', 'crt_1', 'active', 'c' || i, 'https://go.example/' || i,
            'https://shop.example/', i, 0, null
       from generate_series(0, $2::int - 1) i, lateral (select $3::timestamptz - make_interval(secs => (i / $4) * 0.001) as at) t`,
    [brandId, count, new Date(newest).toISOString(), SHARING],
  );
}

/** Inserts rows newer than all others, and rows that share a time with others: before and after any position. */
async function insertMore(step: number): Promise<void> {
  await insertLinks(brand.id, 2, NEWEST + 1_000 + step);
  await insertLinks(brand.id, 2, NEWEST - (step % (ROWS / SHARING)));
}

async function idsNow(brandId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>("select id from records.links where brand_id = $1 order by created_at desc, id desc", [
    brandId,
  ]);
  return rows.map(({ id }) => id);
}

interface Page {
  data: { id: string; created_at: string }[];
  next_cursor?: string | null | undefined;
}

async function readAll(
  fetchPage: (cursor: string | undefined) => Promise<Page>,
  betweenPages: (step: number) => Promise<void>,
): Promise<Page["data"]> {
  const records: Page["data"] = [];
  let cursor: string | undefined;
  for (let step = 0; ; step += 1) {
    const page = await fetchPage(cursor);
    records.push(...page.data);
    if (page.next_cursor == null) return records;
    cursor = page.next_cursor;
    await betweenPages(step);
  }
}

function expectComplete(records: Page["data"], prior: readonly string[]): void {
  const keys = records.map(({ created_at, id }) => `${created_at} ${id}`);
  expect(keys).toEqual(keys.toSorted().toReversed());
  const seen = new Set(records.map(({ id }) => id));
  expect(seen.size).toBe(records.length);
  const priorSet = new Set(prior);
  expect(records.filter(({ id }) => priorSet.has(id)).map(({ id }) => id)).toEqual(prior);
}

it("returns every record over HTTP with limit 200, and none of another brand", async () => {
  const prior = await idsNow(brand.id);
  const others = new Set(await idsNow(other.id));
  const records = await readAll(
    async (cursor) => {
      const query = cursor === undefined ? "" : `&cursor=${cursor}`;
      const response = await stack.get(`/api/v1/links?limit=200${query}`, brand.key);
      expect(response.status).toBe(200);
      const page = (await response.json()) as Page & { resource: string; count: number };
      expect(page).toMatchObject({ resource: "links", count: page.data.length });
      // The order matters: a client that cuts a long page drops its end, and must still see that there is more.
      expect(Object.keys(page)).toEqual(["resource", "count", ...(page.count === 200 ? ["next_cursor"] : []), "data"]);
      return page;
    },
    (step) => insertMore(step),
  );
  expectComplete(records, prior);
  expect(records.filter(({ id }) => others.has(id))).toEqual([]);
});

it("returns only records after since, compared to the nanosecond, on all pages", async () => {
  const { id, key } = await stack.createBrand();
  for (const offset of [0, 1, 2]) await insertLinks(id, 3, NEWEST + offset);
  const count = async (since: string) =>
    ((await (await stack.get(`/api/v1/links?since=${encodeURIComponent(since)}`, key)).json()) as { count: number }).count;
  expect(await count("2026-11-21T00:00:00.001Z")).toBe(3);
  expect(await count("2026-11-21T08:00:00.001000000+08:00")).toBe(3);
  expect(await count("2026-11-21T00:00:00.000999999Z")).toBe(6);
  expect(await count("2026-11-21T00:00:00.002Z")).toBe(0);
  const since = "2026-11-21T08:00:00+08:00";
  const records = await readAll(
    async (cursor) => {
      const query = new URLSearchParams({ limit: "4", since, ...(cursor !== undefined && { cursor }) });
      return (await (await stack.get(`/api/v1/links?${query.toString()}`, key)).json()) as Page;
    },
    async () => {},
  );
  expect(records).toHaveLength(6);
});

it("returns only the caller's records for another brand's cursor", async () => {
  const page = (await (await stack.get("/api/v1/links?limit=10", other.key)).json()) as Page;
  const stolen = (await (await stack.get(`/api/v1/links?limit=200&cursor=${page.next_cursor ?? ""}`, brand.key)).json()) as Page;
  const ours = new Set(await idsNow(brand.id));
  expect(stolen.data.length).toBeGreaterThan(0);
  expect(stolen.data.filter(({ id }) => !ours.has(id))).toEqual([]);
});

it("never returns another brand's record with an equal id", async () => {
  const [a, b] = await Promise.all([stack.createBrand(), stack.createBrand()]);
  const id = newId("lnk");
  for (const [brandId, code] of [
    [a.id, "ours"],
    [b.id, "theirs"],
  ]) {
    await db.query(
      `insert into records.links values ($1, $2, now(), now(), 'cmp_1', 'crt_1', 'active', $3, 'https://go.example/', 'https://shop.example/', 0, 0, null)`,
      [brandId, id, code],
    );
  }
  for (const [key, code] of [
    [a.key, "ours"],
    [b.key, "theirs"],
  ] as const) {
    expect(await (await stack.get("/api/v1/links", key)).json()).toMatchObject({ count: 1, data: [{ id, code }] });
  }
});

it("counts and logs a page that cannot be served, with the record, its columns, the brand and the request", async () => {
  const { id, key } = await stack.createBrand();
  await insertLinks(id, 2, NEWEST);
  // Values that only a missing constraint lets in.
  await db.query("alter table records.links drop constraint links_clicks_check, drop constraint links_expires_at_check");
  const broken = await db.query<{ id: string }>(
    `update records.links set clicks = 9007199254740993, expires_at = 'infinity' where brand_id = $1
        and id = (select min(id) from records.links where brand_id = $1) returning id`,
    [id],
  );
  const response = await stack.get("/api/v1/links", key);
  expect(response.status).toBe(500);
  const requestId = response.headers.get("x-request-id");
  expect(await response.json()).toMatchObject({ error: { code: "internal_error", request_id: requestId } });
  const line = (fields: object): object => expect.objectContaining({ request_id: requestId, ...fields });
  const err = { type: "UnservableRecord", brand_id: id, resource: "links", record_id: broken[0]?.id, columns: ["clicks", "expires_at"] };
  await eventually(() => {
    const failed = line({ msg: "call failed", level: "error", kind: "internal_error", err: expect.objectContaining(err) });
    expect(logOf(stack.processes.records)).toContainEqual(failed);
    expect(logOf(stack.gateways[0].process)).toContainEqual(line({ msg: "request served", level: "info", error: "internal_error" }));
  });
  expect(await metricsOf(stack.processes.records)).toMatch(
    /rpc_server_duration_seconds_count\{[^}]*ListLinks[^}]*code="internal_error"[^}]*\} 1$/m,
  );
  // Other brands are still served.
  expect((await stack.get("/api/v1/links?limit=1", brand.key)).status).toBe(200);
});
