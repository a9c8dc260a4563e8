import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
  deletePlans: {
    name: "brand_deletion.plans",
    text: `delete from plans.plans where brand_id = $1 and id = any(array(
             select p.id from plans.plans p where p.brand_id = $1 limit $2)) returning 1`,
  },
  lock: { name: "brand_deletion.lock", text: "select from plans.brand_locks where brand_id = $1 for update" },
  deleteRest: { name: "brand_deletion.rest", text: "delete from plans.plans where brand_id = $1" },
  deleteLock: { name: "brand_deletion.brand_lock", text: "delete from plans.brand_locks where brand_id = $1" },
} satisfies Record<string, Statement>;

/** Deletes up to `limit` plans of a brand. Returns how many. */
export async function deletePlansOf(sql: Sql, brandId: string, limit: number): Promise<number> {
  return (await sql.query(statements.deletePlans, [brandId, limit])).length;
}

/** Deletes the row that plans of a brand are made under. Waits for a transaction that holds it, and deletes the plan that it made. Must run in a transaction. */
export async function deleteBrandLock(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.lock, [brandId]);
  await sql.query(statements.deleteRest, [brandId]);
  await sql.query(statements.deleteLock, [brandId]);
}
