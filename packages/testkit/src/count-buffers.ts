import type { Database, Sql, Statement } from "@brand-records/postgres";

/** Blocks that the statements of a call read, in Postgres' cache or not. */
export interface Buffers {
  /** With the plan that serves any parameters, which Postgres may choose for a prepared statement. */
  readonly generic: number;
  /** With the plan for the call's parameters. */
  readonly custom: number;
}

interface PlanNode {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
}

/** Runs a call that only reads, with either plan for each of its statements. */
export async function countBuffers(db: Database, call: (sql: Sql) => Promise<unknown>): Promise<Buffers> {
  return { generic: await countWith(db, "generic", call), custom: await countWith(db, "custom", call) };
}

function countWith(db: Database, plan: "generic" | "custom", call: (sql: Sql) => Promise<unknown>): Promise<number> {
  return db.transaction(async (sql) => {
    await sql.query(`set local plan_cache_mode = force_${plan}_plan`);
    let blocks = 0;
    await call({
      async query<Row>(statement: Statement | string, values: readonly unknown[] = []): Promise<Row[]> {
        const text = typeof statement === "string" ? statement : statement.text;
        await sql.query(`prepare counted as ${text}`);
        const given = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
        const [row] = await sql.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
          `explain (analyze, buffers, timing off, format json) execute counted${given}`,
        );
        await sql.query("deallocate counted");
        const { "Shared Hit Blocks": hit, "Shared Read Blocks": read } = (row as { "QUERY PLAN": [{ Plan: PlanNode }] })["QUERY PLAN"][0]
          .Plan;
        blocks += hit + read;
        return sql.query<Row>(text, values);
      },
    });
    return blocks;
  });
}

/** A parameter as SQL. An array is written as Postgres writes it: its type is that of the statement's parameter. */
function literal(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value) && typeof value !== "string") throw new Error(`no literal for ${typeof value}`);
  const text = Array.isArray(value) ? `{${value.map((item) => (item === null ? "null" : JSON.stringify(String(item)))).join(",")}}` : value;
  return `'${text.replaceAll("'", "''")}'`;
}
