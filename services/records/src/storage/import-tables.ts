import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { fromPostgresError, type Sql, type Transaction } from "@brand-records/postgres";
import type { ResourceName } from "@brand-records/resources";
import { from as copyFrom } from "pg-copy-streams";
import type { ImportedRecord } from "../domain/check-line.ts";
import { columnsOf } from "./page-statements.ts";

/**
 * Creates a temporary table for the rows to import. It is dropped at the end of the transaction. A deletion of the brand waits until then.
 *
 * @throws AppError `brand_moving`
 */
export async function createStage(sql: Sql, resource: ResourceName, brandId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock_shared(hashtext('records.import'), hashtext($1)), records.is_here($1)", [brandId]);
  // An import brings in history: it emits no events, and any status change is allowed.
  await sql.query("set local brand_records.events = off");
  await sql.query(`create temp table stage on commit drop as select 0::bigint as line, t.* from records.${resource} t with no data`);
}

/**
 * Whether an import into a brand is in progress: it holds the brand's lock from `createStage` to its end.
 *
 * @throws AppError `brand_moving`
 */
export async function isImporting(sql: Sql, brandId: string): Promise<boolean> {
  const statement = "select pg_try_advisory_xact_lock(hashtext('records.import'), hashtext($1)) as free, records.is_here($1)";
  const [row] = await sql.query<{ free: boolean }>(statement, [brandId]);
  return row?.free !== true;
}

/** A row of the stage in Postgres' COPY text format, line feed included. */
export function stageRow(resource: ResourceName, line: number, record: ImportedRecord): string {
  return `${[line, ...columnsOf(resource).map((column) => record[column])].map(copyValue).join("\t")}\n`;
}

/** @param rows one or more results of `stageRow` each */
export async function copyIntoStage(sql: Transaction, resource: ResourceName, rows: AsyncIterable<string>): Promise<void> {
  const copy = sql.client.query(copyFrom(`copy stage (line, ${columnsOf(resource).join(", ")}) from stdin`));
  const done = new AbortController();
  try {
    // The pipeline notices a lost connection only at the next row, and a sender may pause for any time before it.
    await Promise.race([pipeline(rows, copy), once(sql.client, "end", done)]);
  } catch (error) {
    throw fromPostgresError(error);
  } finally {
    done.abort();
  }
}

/** Returns the lines that would change a record's created_at, compared with the table, else with the first line of that id. */
export async function linesChangingCreatedAt(sql: Sql, resource: ResourceName, brandId: string): Promise<{ line: number; id: string }[]> {
  await sql.query("analyze stage");
  return sql.query(
    `select s.line, s.id
       from (select line, id, created_at, first_value(created_at) over (partition by id order by line) as first from stage) s
       left join records.${resource} t on t.brand_id = $1 and t.id = s.id
      where s.created_at <> coalesce(t.created_at, s.first)
      order by s.line`,
    [brandId],
  );
}

export const dropFromStage = (sql: Sql, lines: readonly number[]): Promise<unknown> =>
  sql.query("delete from stage where line = any($1)", [lines]);

export interface UpsertCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/**
 * Writes the stage into the table by (brand_id, id). The last line of an id wins; equal rows are not touched. Rows are
 * written in the order of their ids, so that two imports of the same records cannot deadlock.
 */
export async function upsertStage(sql: Sql, resource: ResourceName, brandId: string): Promise<UpsertCounts> {
  const columns = columnsOf(resource);
  const list = columns.join(", ");
  const changing = columns.filter((column) => column !== "id" && column !== "created_at");
  const [counts] = await sql.query<UpsertCounts>(
    `with latest as (select distinct on (id) ${list} from stage order by id, line desc),
          written as (
            insert into records.${resource} as t (brand_id, ${list}) select $1, ${list} from latest
            on conflict (brand_id, id) do update set ${changing.map((column) => `${column} = excluded.${column}`).join(", ")}
             where (${changing.map((column) => `t.${column}`).join(", ")}) is distinct from (${changing.map((column) => `excluded.${column}`).join(", ")})
            returning (xmax = 0) as inserted)
     select (select count(*) from written where inserted) as inserted,
            (select count(*) from written where not inserted) as updated,
            (select count(*) from latest) - (select count(*) from written) as unchanged`,
    [brandId],
  );
  if (counts === undefined) throw new Error("aggregate returned no row");
  return counts;
}

type CopyValue = ImportedRecord[string];

function copyValue(value: CopyValue): string {
  if (value === null || value === undefined) return "\\N";
  return escapeCopy(typeof value === "object" ? arrayLiteral(value) : String(value));
}

function arrayLiteral(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function escapeCopy(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character) : text;
}
