import { firstOf, statementsOf, type Sql } from "@brand-records/postgres";

/** Made by the steps of a restore, in docs/operations.md. */
const MARKER = "accounts.restored_from_backup";

const statements = statementsOf("restored", {
  marked: `select to_regclass('${MARKER}') is not null as is_marked`,
  unmark: `drop table if exists ${MARKER}`,
  origin: `insert into accounts.origin (brands_oid) values ('accounts.brands'::regclass) on conflict do nothing`,
  isCopy: "select brands_oid <> 'accounts.brands'::regclass as is_copy from accounts.origin",
  acceptCopy: "update accounts.origin set brands_oid = 'accounts.brands'::regclass",
  epochs: "select id, epoch from accounts.brands where id = any($1::text[])",
});

/** Returns whether somebody has marked the schema as restored. */
export const isMarkedRestored = async (sql: Sql): Promise<boolean> =>
  (await firstOf(sql.query<{ is_marked: boolean }>(statements.marked)))?.is_marked === true;

/** Returns whether the schema was made from a dump of another one. Remembers a schema that is new. */
export async function isCopyOfAnother(sql: Sql): Promise<boolean> {
  await sql.query(statements.origin);
  const [row] = await sql.query<{ is_copy: boolean }>(statements.isCopy);
  return row?.is_copy === true;
}

/** Lets accounts start: what a restore gave back has been taken away. */
export async function acceptRestored(sql: Sql): Promise<void> {
  await sql.query(statements.acceptCopy);
  await sql.query(statements.unmark);
}

/** Returns the epochs of those brands that exist. */
export async function epochsOf(sql: Sql, brandIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; epoch: number }>(statements.epochs, [brandIds]);
  return new Map(rows.map(({ id, epoch }) => [id, epoch]));
}
