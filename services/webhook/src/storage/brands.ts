import { type Sql, firstOf, isFound, statementsOf } from "@brand-records/postgres";

const statements = statementsOf("brands", {
  isOpen: "select from webhook.brands b where b.brand_id = $1 and b.deletion_started_at is null",
  remember: "insert into webhook.brands (brand_id) values ($1) on conflict (brand_id) do nothing",
  lock: "select from webhook.brands b where b.brand_id = $1 and b.deletion_started_at is null for no key update",
  lockAll: `select b.brand_id, b.deletion_started_at is null as is_open from webhook.brands b
            where b.brand_id = any($1::text[]) order by b.brand_id for key share`,
  page: "select b.brand_id from webhook.brands b where b.brand_id > $1 order by b.brand_id limit $2",
});

/** Whether accounts confirmed the brand before, and it is not being deleted. */
export const isBrandOpen = (sql: Sql, brandId: string): Promise<boolean> => isFound(sql.query(statements.isOpen, [brandId]));

export const rememberBrand = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.remember, [brandId]);

/**
 * Until the transaction ends, no other one adds receivers to this brand, and its deletion waits.
 *
 * @returns false if accounts has not confirmed the brand, or it is being deleted
 */
export const lockBrand = (sql: Sql, brandId: string): Promise<boolean> => isFound(sql.query(statements.lock, [brandId]));

/**
 * Until the transaction ends, the deletion of these brands waits: what the transaction writes for an open one is there to be deleted.
 * Locks of this kind do not exclude each other. In the locking order, brands come after lanes.
 *
 * @returns whether the brand is open, by its id; none for a brand that accounts has not confirmed, or that is deleted
 */
export async function lockBrands(sql: Sql, brandIds: readonly string[]): Promise<Map<string, boolean>> {
  const rows = await sql.query<{ brand_id: string; is_open: boolean }>(statements.lockAll, [brandIds]);
  return new Map(rows.map(({ brand_id, is_open }) => [brand_id, is_open]));
}

/** Returns the ids of all brands here, closed ones too, in their order after `afterId`. */
export async function pageOfBrandIds(sql: Sql, afterId: string, limit: number): Promise<string[]> {
  return (await sql.query<{ brand_id: string }>(statements.page, [afterId, limit])).map(({ brand_id }) => brand_id);
}

/** Statements by the prefixes of ids. They serve operators only: every other look-up names the brand. */
const OF_RECORD = statementsOf("brand_of", {
  rcv: "select r.brand_id from webhook.receivers r where r.id = $1",
  evt: "select e.brand_id from webhook.events e where e.id = $1",
  dlv: `select r.brand_id from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id where d.id = $1
        union all
        select p.brand_id from webhook.past_deliveries p where p.id = $1`,
  rpl: "select p.brand_id from webhook.replays p where p.id = $1",
});

/** Returns the brand of a record, undefined if the record is not stored. */
export const brandOf = async (sql: Sql, id: string): Promise<string | undefined> =>
  (await firstOf(sql.query<{ brand_id: string }>(OF_RECORD[id.slice(0, 3) as keyof typeof OF_RECORD], [id])))?.brand_id;
