import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rfc3339FromPostgres, type Sql, type Statement } from "@brand-records/postgres";
import type { Filters, RecordOf } from "@brand-records/resources";
import pg from "pg";
import { ROOT } from "../../harness/programs.ts";
import { POOL_SIZE } from "../settings.ts";

type Conversion = RecordOf<"conversions">;

interface ConversionsPage {
  readonly data: Conversion[];
  readonly next_cursor: string | null;
}

type ReadPage = (brandId: string, limit: number, cursor: string | null) => Promise<ConversionsPage>;

/** Reads pages as a plain program would: the product's statement on a pg pool, without checks. */
export async function openPages(url: string): Promise<ReadPage> {
  const statement = await productStatement();
  pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, rfc3339FromPostgres);
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  return async (brandId, limit, cursor) => {
    const { rows } = await pool.query<Conversion>({ ...statement, values: pageValues(brandId, limit, cursor) });
    const last = rows.at(-1);
    return { data: rows, next_cursor: last === undefined || rows.length < limit ? null : cursorAfter(last) };
  };
}

/** Extracts the statement from the product's compiled code, so that the variants stay equal. */
export async function productStatement(filters: Filters = {}): Promise<Statement> {
  const { pageOfRecords } = (await import(pathToFileURL(join(ROOT, "services/records/dist/storage/page-statements.js")).href)) as {
    pageOfRecords(sql: Sql, resource: string, page: object): Promise<unknown>;
  };
  let found: Statement | undefined;
  const observer: Sql = {
    query: (statement) => {
      if (typeof statement !== "string") found = statement;
      return Promise.resolve([]);
    },
  };
  await pageOfRecords(observer, "conversions", { brandId: "", limit: 1, after: undefined, since: undefined, filters });
  if (found === undefined) throw new Error("the records service no longer reads a page with one named statement");
  return found;
}

/** Returns the statement's values. If the product changes their order, the responses differ, and the benchmark refuses to run. */
export function pageValues(brandId: string, limit: number, cursor: string | null): unknown[] {
  const [createdAt, id] = cursor === null ? ["infinity", ""] : positionOf(cursor);
  return [brandId, createdAt, id, "-infinity", limit];
}

/** Encodes cursors like the product, so that responses are equal byte for byte. */
function cursorAfter({ created_at, id }: Conversion): string {
  return Buffer.from(JSON.stringify([1, "conversions", null, created_at, id])).toString("base64url");
}

function positionOf(cursor: string): [createdAt: string, id: string] {
  const [, , , createdAt, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as string[];
  return [createdAt ?? "", id ?? ""];
}
