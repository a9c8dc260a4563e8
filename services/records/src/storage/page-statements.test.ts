import { type Sql, type Statement } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type Filters, type ResourceName } from "@brand-records/resources";
import { sampleRecord } from "../../test/any-record.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";
import type { Page } from "../domain/page.ts";
import { columnsOf, pageOfRecords } from "./page-statements.ts";

/** What pages read: an unfiltered one no row that it does not return, a filtered one little more. */

const ROWS = 12_000;
const BRAND = "brd_ours";
/** Has the same records, written after the statistics were gathered: the planner expects none. */
const LATE_BRAND = "brd_late";
const NEWEST = Date.UTC(2026, 10, 21);
const LIMIT = 50;
const DEEP = 1_000;
/** Blocks of a filtered page over those of an unfiltered one, at most. */
const BLOCKS_RATIO_MAX = 3;

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
  for (const resource of RESOURCE_NAMES) await fill(resource);
}, 120_000);
afterAll(() => served.stop());

const statusesOf = (resource: ResourceName) => {
  const [frequent, rare, absent] = RESOURCES[resource].schema.shape.status.options;
  return { frequent, rare, absent } as { frequent: string; rare: string; absent: string };
};

/**
 * Fills a table such that statistics mislead: half of the rows are our brand's, and those of the other brand have the status that ours never
 * has, and a campaign that ours hardly has. A third of our rows, the oldest, have a campaign, link, creator and order number of their own,
 * all with one status. Rows lie in random order: each of a page is in a block of its own.
 */
async function fill(resource: ResourceName): Promise<void> {
  const sample = sampleRecord(resource);
  const prefix = String(sample["id"]).split("_")[0];
  const { frequent, rare, absent } = statusesOf(resource);
  await served.db.query(`alter table records.${resource} set (autovacuum_enabled = off)`);
  await served.db.query(
    `insert into records.${resource}
     select record.* from generate_series(1, ${ROWS}) i,
            lateral (select i % 2 = 0 as is_ours, i > ${ROWS} * 2 / 3 as is_old, i % 1000 = 0 as is_rare) r,
            lateral (select case when not is_ours then 'theirs' when is_rare then 'rare' when is_old then 'old' else 'new' end as part) p,
            jsonb_populate_record(null::records.${resource}, $1::jsonb || jsonb_build_object(
              'brand_id', case when is_ours then $2 else 'brd_theirs' end,
              'id', '${prefix}_' || md5(i::text), 'created_at', $3::timestamptz - make_interval(secs => (i / 4) * 0.001),
              'campaign_id', case when is_rare and not is_old then 'cmp_theirs' else 'cmp_' || part end, 'link_id', 'lnk_' || part,
              'creator_id', 'crt_' || part, 'external_id', 'ord_' || part,
              'status', case when not is_ours then $6 when is_rare then $5 else $4 end)) record
      order by md5(i::text || 'row')`,
    [JSON.stringify(sample), BRAND, new Date(NEWEST).toISOString(), frequent, rare, absent],
  );
  await served.db.query(`vacuum analyze records.${resource}`);
  await served.db.query(
    `insert into records.${resource}
     select copy.* from records.${resource} r, jsonb_populate_record(r, jsonb_build_object('brand_id', $2::text)) copy where r.brand_id = $1`,
    [BRAND, LATE_BRAND],
  );
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs the statement of a page by the plan for any parameters, or by the one for these, and before once for each of `warmUps`. */
async function planOf(resource: ResourceName, page: Page, plan: "generic" | "custom", warmUps = 0): Promise<PlanNode> {
  let [text, values]: [string, readonly unknown[]] = ["", []];
  const recording: Sql = {
    query: async <Row>(statement: Statement | string, given: readonly unknown[] = []) => {
      [text, values] = [(statement as Statement).text, given];
      return [] as Row[];
    },
  };
  await pageOfRecords(recording, resource, page);
  const literals = values.map((value) => (typeof value === "number" ? String(value) : `'${String(value)}'`)).join(", ");
  return served.db.transaction(async (sql) => {
    await sql.query(`set local plan_cache_mode = force_${plan}_plan`);
    await sql.query(`prepare page as ${text}`);
    for (let run = 0; run < warmUps; run += 1) await sql.query(`execute page(${literals})`);
    const [row] = await sql.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, timing off, format json) execute page(${literals})`,
    );
    await sql.query("deallocate page");
    return row?.["QUERY PLAN"][0].Plan as PlanNode;
  });
}

/** Blocks that it read, in Postgres' cache or not. */
const blocksOf = (top: PlanNode): number => top["Shared Hit Blocks"] + top["Shared Read Blocks"];
const shown = (top: PlanNode): string => JSON.stringify(top, ["Node Type", "Index Name", "Plans"]);

const unfiltered: Page = { brandId: BRAND, limit: LIMIT, after: undefined, since: undefined, filters: {} };

/** The whole list that the filters select, as the table has it. */
async function positionAt(resource: ResourceName, filters: Filters, offset: number): Promise<Page["after"]> {
  const equal = Object.entries(filters).filter(([name]) => !name.startsWith("created_"));
  const [found] = await served.db.query<{ created_at: string; id: string }>(
    `select created_at, id from records.${resource}
      where brand_id = $1 ${equal.map(([name], index) => `and ${name} = $${index + 3}`).join(" ")}
      order by created_at desc, id desc offset $2 limit 1`,
    [BRAND, offset, ...equal.map(([, value]) => value)],
  );
  return found;
}

/** The filters with values that this test writes, and what these begin with. */
const PARTS = [
  ["campaign_id", "cmp"],
  ["link_id", "lnk"],
  ["creator_id", "crt"],
  ["external_id", "ord"],
] as const;

/** Frequent, rare and absent values of single filters and of the documented pairs. */
function filtersOf(resource: ResourceName): [string, Filters][] {
  const { frequent, rare, absent } = statusesOf(resource);
  const ofId = String(sampleRecord(resource)["id"]).split("_")[0];
  const columns = PARTS.filter(([name]) => RESOURCES[resource].filters.includes(name));
  return [
    ["an id", { id: `${ofId}_c81e728d9d4c2f636f067f89cc14862c` }],
    ["an absent id", { id: `${ofId}_1` }],
    ["a frequent status", { status: frequent }],
    ["a rare status", { status: rare }],
    ["a status that only other brands have", { status: absent }],
    ...columns.flatMap(([name, prefix]): [string, Filters][] => [
      [`a frequent ${name}`, { [name]: `${prefix}_new` }],
      [`a frequent ${name} of the past`, { [name]: `${prefix}_old` }],
      [`a rare ${name}`, { [name]: `${prefix}_rare` }],
      [`a ${name} that another brand has`, { [name]: `${prefix}_theirs` }],
    ]),
    ...columns
      .filter(([name]) => name !== "external_id")
      .flatMap(([name, prefix]): [string, Filters][] => [
        [`a ${name} with its frequent status`, { [name]: `${prefix}_old`, status: frequent }],
        [`a ${name} with a status that only others have`, { [name]: `${prefix}_old`, status: rare }],
        [`a ${name} with a status that only other brands have`, { [name]: `${prefix}_new`, status: absent }],
      ]),
  ];
}

const RANGES: [string, Filters][] = [
  ["", {}],
  [
    " in a time range",
    { created_from: new Date(NEWEST - (ROWS / 4) * 0.9).toISOString(), created_before: new Date(NEWEST - 1).toISOString() },
  ],
];

describe.each(RESOURCE_NAMES)("a page of %s", (resource) => {
  it.each<[string, boolean, Partial<Page>]>([
    ["first", false, {}],
    ["deep", true, {}],
    ["first with since", false, { since: new Date(NEWEST - 1_000).toISOString() }],
    ["deep with since", true, { since: new Date(NEWEST - 10_000).toISOString() }],
  ])("walks the index backwards and reads no row that it does not return: %s", async (_, isDeep, page) => {
    const after = isDeep ? await positionAt(resource, {}, DEEP) : undefined;
    const top = await planOf(resource, { ...unfiltered, after, ...page }, "generic");
    const [scan] = top.Plans ?? [];
    const [limited, walking] = [{ "Node Type": "Limit" }, { "Index Name": `${resource}_newest`, "Scan Direction": "Backward" }];
    expect([top, scan]).toMatchObject([limited, { "Node Type": "Index Scan", "Actual Rows": LIMIT, ...walking }]);
    expect([scan?.Plans, scan?.["Rows Removed by Filter"] ?? 0]).toEqual([undefined, 0]);
  });

  it("has exactly the fields of the resource, and records of that brand only", async () => {
    const rows = await pageOfRecords(served.db, resource, { ...unfiltered, limit: 200 });
    expect(rows).toHaveLength(200);
    for (const row of rows) expect(Object.keys(row)).toEqual(columnsOf(resource));
    for (const [, filters] of filtersOf(resource).filter(([name]) => /^a frequent \w+$/.test(name))) {
      const [row] = await pageOfRecords(served.db, resource, { ...unfiltered, filters, fields: new Set(["status"]) });
      expect(Object.keys(row ?? {})).toEqual(["id", "created_at", "status"]);
    }
    expect(await pageOfRecords(served.db, resource, { ...unfiltered, brandId: "brd_nobody" })).toEqual([]);
  });
});

describe.each(RESOURCE_NAMES)("a filtered page of %s reads at most three times the blocks of an unfiltered page", (resource) => {
  let allowed: Record<"generic" | "custom", number>;
  beforeAll(async () => {
    const blocks = async (plan: "generic" | "custom"): Promise<number> => blocksOf(await planOf(resource, unfiltered, plan));
    allowed = { generic: BLOCKS_RATIO_MAX * (await blocks("generic")), custom: BLOCKS_RATIO_MAX * (await blocks("custom")) };
  });

  it.each(
    filtersOf(resource).flatMap(([name, filters]) => RANGES.map(([range, times]) => [name + range, { ...filters, ...times }] as const)),
  )("%s", async (_, filters) => {
    const atDepth = (await positionAt(resource, filters, DEEP)) ?? (await positionAt(resource, {}, DEEP));
    for (const plan of ["generic", "custom"] as const) {
      for (const brandId of [BRAND, LATE_BRAND]) {
        for (const after of [undefined, atDepth]) {
          const top = await planOf(resource, { ...unfiltered, brandId, filters, after }, plan);
          const read = { brandId, blocks: blocksOf(top), plan: shown(top) };
          expect({ ...read, isWithin: read.blocks <= allowed[plan] }).toEqual({ ...read, isWithin: true });
        }
      }
    }
  });

  it("in a time range alone", async () => {
    const [, [, filters] = ["", {}]] = RANGES;
    for (const after of [undefined, await positionAt(resource, {}, DEEP)]) {
      const top = await planOf(resource, { ...unfiltered, filters, after }, "generic");
      expect(top["Actual Rows"]).toBe(LIMIT);
      expect(blocksOf(top)).toBeLessThanOrEqual(allowed.generic);
    }
  });
});

it("has the values that the cases name", async () => {
  const rowsOf = async (filters: Filters) =>
    (await planOf("conversions", { ...unfiltered, limit: 200, filters }, "generic"))["Actual Rows"];
  const { frequent, rare, absent } = statusesOf("conversions");
  expect([await rowsOf({ status: frequent }), await rowsOf({ status: rare }), await rowsOf({ status: absent })]).toEqual([200, 12, 0]);
  const campaign_id = "cmp_old";
  expect([await rowsOf({ campaign_id }), await rowsOf({ campaign_id, status: rare })]).toEqual([200, 0]);
});

describe("in a cell", () => {
  const pages = RESOURCE_NAMES.flatMap((resource) =>
    [["", {}] as [string, Filters], ...filtersOf(resource)].map((page) => [resource, ...page] as const),
  );
  /** Of the look at the brand's row: the index and the table. */
  const LOOK_BLOCKS_MAX = 3;
  const readPages = async () => {
    const read: { page: string; plan: PlanNode; blocks: number }[] = [];
    for (const [resource, name, filters] of pages) {
      const plan = await planOf(resource, { ...unfiltered, filters }, "generic", 1);
      read.push({ page: `${resource} ${name}`, plan, blocks: blocksOf(plan) });
    }
    return read;
  };

  it("a page looks once for the brand, before it reads as elsewhere", async () => {
    const elsewhere = await readPages();
    await served.db.query("select records.become_cell(array[$1, $2])", [BRAND, LATE_BRAND]);
    const here = await readPages();
    for (const [at, { page, plan, blocks }] of here.entries()) {
      const added = blocks - (elsewhere[at]?.blocks ?? 0);
      expect({ page, added, looks: looksIn(plan), isLittle: added >= 1 && added <= LOOK_BLOCKS_MAX }).toEqual({
        page,
        added,
        looks: 1,
        isLittle: true,
      });
    }
    expect(here[0]?.plan).toMatchObject({
      "Node Type": "Limit",
      Plans: [{ "Node Type": "Result", Plans: [{ "Node Type": "Index Scan" }] }],
    });
  });

  const looksIn = ({ "One-Time Filter": look = "", Plans = [] }: PlanNode & { readonly "One-Time Filter"?: string }): number =>
    (look.includes("require_here") ? 1 : 0) + Plans.reduce((sum, plan) => sum + looksIn(plan), 0);
});
