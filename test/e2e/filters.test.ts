import { openPool, type Database } from "@brand-records/postgres";
import { fieldNames, type FilterName, RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import fc from "fast-check";
import { GENERATIONS, post, toolCall } from "../mcp.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/**
 * One promise: over HTTP and by tools, a walk with any filters, limits and cursors returns exactly the records that filtering the whole walk
 * returns, also while records are inserted; with `fields`, a tool's pages are those of HTTP with these keys.
 */

const RUNS = 100;
const RECORDS_MAX = 40;
const NEWEST = Date.UTC(2026, 10, 21);
/** Many records share each. */
const INSTANTS = 8;
/** One as shops make them; one with what a query, JSON, SQL and a time's offset give a meaning. */
const ORDER_NUMBERS = ["ORDER-10294", "%+'\"\\&= \u0001\u{1f600}é 08:00"] as const;
const INTERFACES = ["HTTP", ...GENERATIONS] as const;

let stack: SharedStack;
let db: Database;
beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, max: 2, applicationName: "test" });
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
});

interface Row {
  readonly id: string;
  readonly created_at: string;
  readonly campaign_id?: string | null;
  readonly link_id?: string;
  readonly creator_id?: string;
  readonly external_id?: string;
  readonly status: string;
}

/** A time of a filter: `instant` and a nanosecond more or not, spelled with an offset or in UTC. */
interface Bound {
  readonly instant: number;
  readonly isJustAfter: boolean;
  readonly isLocal: boolean;
}

interface Filters {
  readonly id?: number;
  readonly campaign_id?: string;
  readonly link_id?: string;
  readonly creator_id?: string;
  readonly external_id?: string;
  readonly status?: string;
  readonly created_from?: Bound;
  readonly created_before?: Bound;
}

interface Case {
  readonly resource: ResourceName;
  readonly rows: readonly Row[];
  /** Inserted one after each page. */
  readonly later: readonly Row[];
  readonly filters: Filters;
  readonly limit: number;
  readonly via: (typeof INTERFACES)[number];
  /** The fields that a tool is asked for; no other property uses them. */
  readonly fields: readonly string[];
}

const instant = fc.integer({ min: 0, max: INSTANTS - 1 }).map((step) => NEWEST - step);
const bound: fc.Arbitrary<Bound> = fc.record({ instant, isJustAfter: fc.boolean(), isLocal: fc.boolean() });

const caseOf = (resource: ResourceName): fc.Arbitrary<Case> => {
  const { filters: names, schema } = RESOURCES[resource];
  const has = (name: FilterName): boolean => names.includes(name);
  const status = fc.constantFrom(...(schema.shape.status.options as readonly string[]));
  const campaign = resource === "deposits" ? [null, "cmp_a", "cmp_b"] : ["cmp_a", "cmp_b"];
  const row = (prefix: string): fc.Arbitrary<Row> =>
    fc.record({
      id: fc.integer({ min: 0, max: 10_000 }).map((n) => `${idPrefix(resource)}_${prefix}${n}`),
      created_at: instant.map((ms) => new Date(ms).toISOString()),
      status,
      ...(has("campaign_id") && { campaign_id: fc.constantFrom(...campaign) }),
      ...(has("link_id") && { link_id: fc.constantFrom("lnk_a", "lnk_b") }),
      ...(has("creator_id") && { creator_id: fc.constantFrom("crt_a", "crt_b") }),
      ...(has("external_id") && { external_id: fc.constantFrom(...ORDER_NUMBERS) }),
    });
  const filters = {
    status,
    created_from: bound,
    created_before: bound,
    ...(has("campaign_id") && { campaign_id: fc.constantFrom("cmp_a", "cmp_b", "cmp_none") }),
    ...(has("link_id") && { link_id: fc.constantFrom("lnk_a", "lnk_b", "lnk_none") }),
    ...(has("creator_id") && { creator_id: fc.constantFrom("crt_a", "crt_b", "crt_none") }),
    ...(has("external_id") && { external_id: fc.constantFrom(...ORDER_NUMBERS, "none") }),
  };
  const withoutId = fc.record(filters, { requiredKeys: [] });
  const withId = fc.record({ id: fc.nat(), ...filters }, { requiredKeys: ["id"] });
  const unique = { selector: ({ id }: Row) => id };
  return fc.record({
    resource: fc.constant(resource),
    rows: fc.uniqueArray(row("a"), { ...unique, maxLength: RECORDS_MAX }),
    later: fc.uniqueArray(row("b"), { ...unique, maxLength: 10 }),
    // A record's id leaves one: rarely.
    filters: fc.oneof({ weight: 5, arbitrary: withoutId }, { weight: 1, arbitrary: withId }).filter(({ created_from, created_before }) => {
      // Refused otherwise.
      const position = ({ instant, isJustAfter }: Bound): number => instant + (isJustAfter ? 0.5 : 0);
      return created_from === undefined || created_before === undefined || position(created_from) < position(created_before);
    }),
    limit: fc.integer({ min: 1, max: 12 }),
    via: fc.constantFrom(...INTERFACES),
    fields: fc.subarray(fieldNames(RESOURCES[resource])),
  });
};

const anyCase = fc.constantFrom(...RESOURCE_NAMES).chain(caseOf);

const idPrefix = (resource: ResourceName): string => RESOURCES[resource].example.id.split("_")[0] ?? "";

async function insert(brand: TestBrand, resource: ResourceName, rows: readonly Row[]): Promise<void> {
  await db.query(
    `insert into records.${resource}
     select made.* from jsonb_array_elements($1::jsonb) row, jsonb_populate_record(null::records.${resource}, $2::jsonb || row) made`,
    [JSON.stringify(rows), JSON.stringify({ ...RESOURCES[resource].example, brand_id: brand.id })],
  );
}

function spelled({ instant, isJustAfter, isLocal }: Bound): string {
  const text = new Date(isLocal ? instant + 8 * 3_600_000 : instant).toISOString();
  return `${text.slice(0, -1)}${isJustAfter ? "000001" : ""}${isLocal ? "+08:00" : "Z"}`;
}

/** The filters as a request has them. `id` is that of one of the rows, or none's. */
function argumentsOf({ filters, rows, resource }: Case): Record<string, string> {
  const { id, created_from, created_before, ...others } = filters;
  return {
    ...others,
    ...(id !== undefined && { id: rows[id % (rows.length + 1)]?.id ?? `${idPrefix(resource)}_none` }),
    ...(created_from && { created_from: spelled(created_from) }),
    ...(created_before && { created_before: spelled(created_before) }),
  };
}

/** The meaning of the filters, in the test's own words. */
function isKept(row: Row, tested: Case): boolean {
  const { created_from: from, created_before: before } = tested.filters;
  const given = argumentsOf(tested);
  const names = ["id", "campaign_id", "link_id", "creator_id", "external_id", "status"] as const;
  const equal = names.every((name) => given[name] === undefined || given[name] === row[name]);
  const at = Date.parse(row.created_at);
  const isEarly = from !== undefined && (at < from.instant || (at === from.instant && from.isJustAfter));
  const isLate = before !== undefined && (at > before.instant || (at === before.instant && !before.isJustAfter));
  return equal && !isEarly && !isLate;
}

interface Page {
  readonly count: number;
  readonly next_cursor?: string;
  readonly data: readonly Row[];
}

async function read(
  brand: TestBrand,
  { resource, via }: Pick<Case, "resource" | "via">,
  given: Record<string, string>,
  fields?: readonly string[],
): Promise<Page> {
  if (via === "HTTP") {
    const response = await stack.get(`/api/v1/${resource}?${new URLSearchParams(given).toString()}`, brand.key);
    const body = (await response.json()) as Page;
    expect({ status: response.status, body }).toMatchObject({ status: 200 });
    return body;
  }
  const { body } = await post(stack.url, brand.key, toolCall(via, `list_${resource}`, { ...given, fields }));
  expect(body).toMatchObject({ result: { isError: false } });
  return body.result.structuredContent as unknown as Page;
}

async function walk(
  read: (cursor: Record<string, string>) => Promise<Page>,
  limit: number,
  betweenPages: () => Promise<void> = async () => {},
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page: Page = await read({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
    expect(page.count).toBe(page.data.length);
    expect(page.next_cursor !== undefined).toBe(page.count === limit);
    rows.push(...page.data);
    cursor = page.next_cursor;
    await betweenPages();
  }
  return rows;
}

async function requireExact(tested: Case): Promise<void> {
  const brand = await stack.createBrand();
  await insert(brand, tested.resource, tested.rows);
  const given = argumentsOf(tested);
  const filtered = (cursor: Record<string, string>) => read(brand, tested, { ...given, ...cursor });
  const whole = await walk((cursor) => read(brand, tested, cursor), 200);
  const expected = whole.filter((row) => isKept(row, tested));
  expect(await walk(filtered, tested.limit)).toEqual(expected);

  const waiting = [...tested.later];
  const rows = await walk(filtered, tested.limit, async () => insert(brand, tested.resource, waiting.splice(0, 1)));
  const prior = new Set(whole.map(({ id }) => id));
  expect(rows.filter(({ id }) => prior.has(id))).toEqual(expected);
  expect(rows.filter((row) => !isKept(row, tested))).toEqual([]);
  const order = rows.map(({ created_at, id }) => `${created_at} ${id}`);
  expect(order).toEqual([...new Set(order)].toSorted().toReversed());
}

it("a filtered walk returns what filtering the whole walk returns", async () => {
  await fc.assert(fc.asyncProperty(anyCase, requireExact), { numRuns: RUNS });
});

/** Every page of a walk, to the byte. The cursors of either interface serve both, as they carry no fields. */
async function requireSamePages(tested: Case, via: (typeof GENERATIONS)[number]): Promise<void> {
  const { resource, rows, limit, fields } = tested;
  const brand = await stack.createBrand();
  await insert(brand, resource, rows);
  const isShown = (name: string): boolean => fields.length === 0 || name === "id" || fields.includes(name);
  const shown = fieldNames(RESOURCES[resource]).filter(isShown);
  await walk(async (cursor) => {
    const given = { ...argumentsOf(tested), ...cursor };
    const page = await read(brand, { resource, via: "HTTP" }, given);
    const data = page.data.map((row) => Object.fromEntries(shown.map((name) => [name, row[name as keyof Row]])));
    expect(JSON.stringify(await read(brand, { resource, via }, given, fields))).toBe(JSON.stringify({ ...page, data }));
    return page;
  }, limit);
}

it("a tool's page with fields is the page of HTTP with these keys", async () => {
  await fc.assert(fc.asyncProperty(anyCase, fc.constantFrom(...GENERATIONS), requireSamePages), { numRuns: RUNS });
});

it.each(INTERFACES)("a filter by another brand's record finds what a filter by an unknown one finds, over %s", async (via) => {
  const [ours, theirs] = [await stack.createBrand(), await stack.createBrand()];
  const row = { id: "cnv_theirs", created_at: new Date(NEWEST).toISOString(), campaign_id: "cmp_x", link_id: "lnk_x", status: "pending" };
  await insert(theirs, "conversions", [{ ...row, external_id: "ORDER_1" }]);
  await insert(theirs, "links", [{ ...row, id: "lnk_x", creator_id: "crt_x", status: "active" }]);
  for (const [resource, filters] of [
    ["conversions", { id: row.id, campaign_id: row.campaign_id, link_id: row.link_id, external_id: "ORDER_1" }],
    ["links", { creator_id: "crt_x" }],
  ] as const) {
    for (const [name, value] of Object.entries(filters)) {
      const pageOf = (brand: TestBrand, text: string) => read(brand, { resource, via }, { [name]: text });
      expect((await pageOf(theirs, value)).count).toBe(1);
      const page = await pageOf(ours, value);
      expect(page).toEqual({ resource, count: 0, data: [] });
      expect(await pageOf(ours, value.replace(/_.*/, "_unknown"))).toEqual(page);
    }
  }
});
