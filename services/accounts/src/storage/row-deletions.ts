import { countOf, type Sql } from "@brand-records/postgres";

/** Deletes up to `limit` rows of a table that `value` selects. Returns how many. */
type Deletion<Value> = (sql: Sql, value: Value, limit: number) => Promise<number>;

function deletionOf<Value>(table: string, name: string, where: string, lock: string): Deletion<Value> {
  const rows = `select ctid from accounts.${table} where ${where} limit $2 ${lock}`;
  const statement = { name: `${table}.${name}`, text: `delete from accounts.${table} where ctid = any(array(${rows})) returning 1` };
  return (sql, value, limit) => countOf(sql.query(statement, [value, limit]));
}

/** Deletes what is older than `value`, but for what another process is deleting. @param where selects it by $1; may end with its order */
export const oldRowsOf = (table: string, where: string): Deletion<number> =>
  deletionOf(table, "delete_old", where, "for update skip locked");

/** Deletes rows of the brand `value`. Waits for those that another process is deleting. */
export const brandRowsOf = (table: string, where = "true"): Deletion<string> =>
  deletionOf(table, "delete_of", `brand_id = $1 and ${where}`, "for update");
