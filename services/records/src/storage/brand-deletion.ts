import { isFound, type Sql, type Statement } from "@brand-records/postgres";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";

/**
 * Works without an index by brand: the outbox is nearly empty, except while the log is unavailable. Then it may have millions of rows, so a
 * statement reads some of them. Rows that the relay holds are skipped.
 */
const DELETE_EVENTS: Statement = {
  name: "brand_deletion.outbox",
  text: `with passed as materialized (
           select o.seq, o.payload ->> 'brand_id' = $1 as is_found from records.outbox o where o.seq > $2 order by o.seq limit $3),
         deleted as (
           delete from records.outbox where seq = any(array(
             select o.seq from records.outbox o where o.seq = any(array(select seq from passed where is_found)) for update skip locked))
           returning seq)
         select count(*) as passed, max(seq) as last_seq, count(*) filter (where is_found) as found, (select count(*) from deleted) as rows
           from passed`,
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
  text: `select 1 where ${RESOURCE_NAMES.map((name) => `exists (select from records.${name} where brand_id = $1)`).join(" or ")}`,
};

export interface OutboxRange {
  /** Events of all brands that were looked at; fewer than the limit at the end of the outbox. */
  readonly passed: number;
  /** Null if none was. */
  readonly last_seq: number | null;
  /** The brand's events among them. */
  readonly found: number;
  /** Those of them that were deleted: the others are held by another transaction. */
  readonly rows: number;
}

/** Deletes a brand's events among the next `limit` events that the log does not have yet. */
export async function deleteOutboxOf(
  sql: Sql,
  brandId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<OutboxRange> {
  const [row] = await sql.query<OutboxRange>(DELETE_EVENTS, [brandId, after, limit]);
  return row ?? { passed: 0, last_seq: null, found: 0, rows: 0 };
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

export const hasRowsOf = (sql: Sql, brandId: string): Promise<boolean> => isFound(sql.query(HAS_ROWS, [brandId]));
