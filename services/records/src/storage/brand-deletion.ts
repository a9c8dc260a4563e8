import type { Sql, Statement } from "@brand-records/postgres";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";

const DELETE_EVENTS: Statement = {
  name: "brand_deletion.outbox",
  // Without an index: the outbox is nearly empty, except while the log is unavailable.
  text: `delete from records.outbox where seq = any(array(
           select o.seq from records.outbox o where o.payload ->> 'brand_id' = $1 limit $2 for update skip locked)) returning 1`,
};

/** Along the primary key. Rows that another transaction holds are skipped: waiting for them would hold up all others. */
const deleteStatement = (resource: ResourceName): Statement => ({
  name: `brand_deletion.${resource}`,
  text: `with deleted as (
           delete from records.${resource} where brand_id = $1 and id = any(array(
             select t.id from records.${resource} t where t.brand_id = $1 and t.id > $2 order by t.id limit $3 for update skip locked))
           returning id)
         select count(*) as rows, max(id) as last_id from deleted`,
});

const DELETE_RECORDS = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, deleteStatement(name)])) as Record<ResourceName, Statement>;

const HAS_ROWS: Statement = {
  name: "brand_deletion.has_rows",
  text: `select 1 where ${RESOURCE_NAMES.map((name) => `exists (select from records.${name} where brand_id = $1)`).join(" or ")}
            or exists (select from records.outbox o where o.payload ->> 'brand_id' = $1)`,
};

/** Deletes up to `limit` events of a brand that the log does not have yet. Returns how many. */
export async function deleteOutboxOf(sql: Sql, brandId: string, limit: number): Promise<number> {
  return (await sql.query(DELETE_EVENTS, [brandId, limit])).length;
}

/**
 * Deletes up to `limit` of a brand's records with ids after `afterId`, without those that another transaction holds.
 *
 * @returns how many, and the last id
 */
export async function deleteRecordsOf(
  sql: Sql,
  resource: ResourceName,
  brandId: string,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<{ readonly rows: number; readonly last_id: string | null }> {
  const [row] = await sql.query<{ rows: number; last_id: string | null }>(DELETE_RECORDS[resource], [brandId, afterId, limit]);
  return row ?? { rows: 0, last_id: null };
}

export async function hasRowsOf(sql: Sql, brandId: string): Promise<boolean> {
  return (await sql.query(HAS_ROWS, [brandId])).length > 0;
}
