import type { Sql } from "./sql.ts";

const statement = { name: "database_time", text: "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now" };

/** Returns what the database's clock shows, in milliseconds since 1970. */
export async function databaseTime(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ readonly now: number }>(statement);
  return row!.now;
}
