import type { Sql, Statement } from "@brand-records/postgres";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { sampleRecord } from "../../test/any-record.ts";
import { type ServedRecords, serveRecords } from "../../test/serve-records.ts";
import type { Page } from "../domain/page.ts";
import { columnsOf, pageOfRecords } from "./page-statements.ts";

const ROWS = 1_500;
const OTHERS = 1_000;
const BRAND = "brd_ours";
const NEWEST = Date.UTC(2026, 10, 21);

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
  for (const resource of RESOURCE_NAMES) await fill(resource);
});
afterAll(() => served.stop());

/** Inserts valid rows of two brands, many with the same created_at. */
async function fill(resource: ResourceName): Promise<void> {
  const sample = sampleRecord(resource);
  const prefix = String(sample["id"]).split("_")[0];
  for (const [brand, rows] of [
    [BRAND, ROWS],
    ["brd_theirs", OTHERS],
  ] as const) {
    await served.db.query(
      `insert into records.${resource}
       select record.* from generate_series(1, $2::int) i,
              jsonb_populate_record(null::records.${resource}, $1::jsonb || jsonb_build_object(
                'id', '${prefix}_' || md5(i::text), 'created_at', $3::timestamptz - make_interval(secs => (i / 40) * 0.001))) record`,
      [JSON.stringify({ ...sample, brand_id: brand }), rows, new Date(NEWEST).toISOString()],
    );
  }
  await served.db.query(`analyze records.${resource}`);
}

/** Returns the statement that the service sends for a page. */
async function statementOf(resource: ResourceName, page: Page): Promise<{ text: string; values: readonly unknown[] }> {
  const sent: { text: string; values: readonly unknown[] }[] = [];
  const recording: Sql = {
    query: async <Row>(statement: Statement | string, values: readonly unknown[] = []) => {
      sent.push({ text: typeof statement === "string" ? statement : statement.text, values });
      return [] as Row[];
    },
  };
  await pageOfRecords(recording, resource, page);
  expect(sent).toHaveLength(1);
  return sent[0] ?? { text: "", values: [] };
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Scan Direction"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Returns the nodes of the generic plan, which Postgres uses for any parameters. */
async function genericPlan(resource: ResourceName, page: Page): Promise<PlanNode[]> {
  const { text, values } = await statementOf(resource, page);
  const literals = values.map((value) => (typeof value === "number" ? String(value) : `'${String(value)}'`)).join(", ");
  return served.db.transaction(async (sql) => {
    await sql.query("set local plan_cache_mode = force_generic_plan");
    await sql.query(`prepare page as ${text}`);
    const [row] = await sql.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(`explain (analyze, format json) execute page(${literals})`);
    await sql.query("deallocate page");
    return nodesOf(row?.["QUERY PLAN"][0].Plan as PlanNode);
  });
}

const firstPage: Page = { brandId: BRAND, limit: 50, after: undefined, since: undefined, filters: {} };

async function deep(resource: ResourceName): Promise<Page> {
  const [after] = await served.db.query<{ created_at: string; id: string }>(
    `select created_at, id from records.${resource} where brand_id = $1 order by created_at desc, id desc offset $2 limit 1`,
    [BRAND, ROWS - 100],
  );
  return { ...firstPage, after };
}

describe.each(RESOURCE_NAMES)("a page of %s", (resource) => {
  it.each<[string, () => Promise<Page> | Page]>([
    ["first", () => firstPage],
    ["deep", () => deep(resource)],
    ["first with since", () => ({ ...firstPage, since: new Date(NEWEST - 100).toISOString() })],
    ["deep with since", async () => ({ ...(await deep(resource)), since: new Date(NEWEST - 10_000).toISOString() })],
  ])("walks the index backwards and reads no row that it does not return: %s", async (_, page) => {
    const nodes = await genericPlan(resource, await page());
    expect(nodes.map((node) => node["Node Type"])).toEqual(["Limit", "Index Scan"]);
    expect(nodes[1]).toMatchObject({ "Index Name": `${resource}_newest`, "Scan Direction": "Backward", "Actual Rows": 50 });
    expect(nodes[1]?.["Rows Removed by Filter"] ?? 0).toBe(0);
  });

  it("has exactly the fields of the resource, and records of that brand only", async () => {
    const rows = await pageOfRecords(served.db, resource, { ...firstPage, limit: 200 });
    expect(rows).toHaveLength(200);
    for (const row of rows) expect(Object.keys(row)).toEqual(columnsOf(resource));
    const brandless: Page = { ...firstPage, brandId: "brd_nobody" };
    expect(await pageOfRecords(served.db, resource, brandless)).toEqual([]);
  });
});

describe.each(RESOURCE_NAMES)("the table of %s", (resource) => {
  it("has the triggers that keep identity, transitions and updated_at", async () => {
    const triggers = await served.db.query<{ name: string }>("select tgname as name from pg_trigger where tgrelid = $1::regclass", [
      `records.${resource}`,
    ]);
    const required = ["identity", "transition", "touch"].map((trigger) => `${resource}_${trigger}`);
    expect(triggers.map(({ name }) => name)).toEqual(expect.arrayContaining(required));
  });

  it.each(["brand_id = 'brd_other'", "id = id || 'x'", "created_at = created_at + interval '1 ms'"])(
    "refuses a change of a record's identity by direct SQL: %s",
    async (change) => {
      const [first] = await pageOfRecords(served.db, resource, { ...firstPage, limit: 1 });
      await expect(
        served.db.query(`update records.${resource} set ${change} where brand_id = $1 and id = $2`, [BRAND, first?.id]),
      ).rejects.toThrow("brand_id, id and created_at never change");
    },
  );
});
