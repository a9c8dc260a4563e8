import { isPrepared, type Database, type Sql, type Statement } from "@brand-records/postgres";

/** Blocks that the statements of a call read, in Postgres' cache or not. */
export interface Buffers {
  /** With the plan that serves any parameters, which Postgres may choose for a prepared statement. */
  readonly generic: number;
  /** With the plan for the call's parameters. */
  readonly custom: number;
  /** Tables that either plan read from their beginning, of more than 1,000 rows. */
  readonly readWhole: readonly string[];
  /** Rows that either plan put into order at once, at most. */
  readonly sorted: number;
}

/** What plans do besides reading blocks. */
interface Done {
  readonly readWhole: Set<string>;
  sorted: number;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** What a plan may read row by row: a table that small has a few blocks, and the planner takes no index for it. */
const SMALL_TABLE_ROWS = 1_000;

/** Runs a call that only reads, with either plan for each of its statements. */
export async function countBuffers(db: Database, call: (sql: Sql) => Promise<unknown>): Promise<Buffers> {
  const done: Done = { readWhole: new Set(), sorted: 0 };
  const generic = await countWith(db, "generic", call, done);
  const custom = await countWith(db, "custom", call, done);
  return { generic, custom, readWhole: [...done.readWhole], sorted: done.sorted };
}

function countWith(db: Database, plan: "generic" | "custom", call: (sql: Sql) => Promise<unknown>, done: Done): Promise<number> {
  return db.transaction(async (sql) => {
    let blocks = 0;
    await call({
      async query<Row>(statement: Statement | string, values: readonly unknown[] = []): Promise<Row[]> {
        const text = typeof statement === "string" ? statement : statement.text;
        await sql.query(`set local plan_cache_mode = force_${isPrepared(statement) ? plan : "custom"}_plan`);
        await sql.query(`prepare counted as ${text}`);
        const given = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
        const [row] = await sql.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
          `explain (analyze, buffers, timing off, format json) execute counted${given}`,
        );
        await sql.query("deallocate counted");
        const { Plan } = (row as { "QUERY PLAN": [{ Plan: PlanNode }] })["QUERY PLAN"][0];
        blocks += Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
        for (const table of tablesReadWhole(Plan)) done.readWhole.add(table);
        done.sorted = Math.max(done.sorted, rowsSorted(Plan));
        return sql.query<Row>(text, values);
      },
    });
    return blocks;
  });
}

function tablesReadWhole(node: PlanNode): string[] {
  const rows = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
  const own = node["Node Type"] === "Seq Scan" && rows > SMALL_TABLE_ROWS ? [node["Relation Name"] ?? ""] : [];
  return [...own, ...(node.Plans ?? []).flatMap(tablesReadWhole)];
}

function rowsSorted({ "Node Type": type, Plans = [] }: PlanNode): number {
  const [input] = Plans;
  const own = type === "Sort" && input !== undefined ? input["Actual Rows"] : 0;
  return Math.max(own, ...Plans.map(rowsSorted));
}

/** A parameter as SQL. An array is written as Postgres writes it: its type is that of the statement's parameter. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value) && typeof value !== "string") throw new Error(`no literal for ${typeof value}`);
  const text = Array.isArray(value) ? `{${value.map((item) => (item === null ? "null" : JSON.stringify(String(item)))).join(",")}}` : value;
  return `'${text.replaceAll("'", "''")}'`;
}
