import { firstOf, onlyOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import { DELETION, type Brand, type Tier } from "../domain/brand.ts";

const COLUMNS = "id, name, tier, verified, epoch, created_at, deletion_started_at, cell";

const SEEN = unnestRows({ id: "text", epoch: "bigint" }, { as: "seen", after: 1 });

const statements = statementsOf("brands", {
  insert: `insert into accounts.brands (id, name, tier, verified, cell)
           select $1, $2, $3, $4, $5 where not exists (select from accounts.audit_entries e where e.brand_id = $1 and e.action = '${DELETION}')
           on conflict (id) do nothing returning ${COLUMNS}`,
  find: `select ${COLUMNS} from accounts.brands where id = $1 and deletion_started_at is null`,
  share: "select from accounts.brands where id = any($1::text[]) order by id for key share",
  lock: `select ${COLUMNS} from accounts.brands where id = $1 and deletion_started_at is null for update`,
  page: `select ${COLUMNS} from accounts.brands where id > $1 order by id limit $2`,
  setTier: `update accounts.brands set tier = $2 where id = $1 returning ${COLUMNS}`,
  setVerified: `update accounts.brands set verified = $2 where id = $1 returning ${COLUMNS}`,
  setCell: "update accounts.brands set cell = $2 where id = $1",
  raiseEpoch: `update accounts.brands
              set epoch = greatest(epoch + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint), epoch_changed_at = clock_timestamp()
            where id = $1 and deletion_started_at is null returning ${COLUMNS}`,
  raiseEpochsAbove: `update accounts.brands b
              set epoch = greatest(b.epoch + 1, seen.epoch + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint + $1),
                  epoch_changed_at = clock_timestamp()
             from ${SEEN.relation} where b.id = seen.id returning b.id, b.epoch`,
  changedSince: `select id, epoch from accounts.brands
            where epoch_changed_at > now() - make_interval(secs => $1)
              and (deletion_started_at is null or deletion_started_at > now() - make_interval(secs => $2))`,
});

type NewBrand = Omit<Brand, "epoch" | "created_at" | "deletion_started_at">;

/** Returns undefined if the id is taken, or was a deleted brand's. */
export const insertBrand = (sql: Sql, { id, name, tier, verified, cell }: NewBrand): Promise<Brand | undefined> =>
  firstOf(sql.query<Brand>(statements.insert, [id, name, tier, verified, cell]));

/** Finds no brand that is being deleted, like every look-up here but the page. */
export const findBrand = (sql: Sql, id: string): Promise<Brand | undefined> => firstOf(sql.query<Brand>(statements.find, [id]));

/** Locks the brand's row until the transaction ends, so that changes to one brand happen one after another. */
export const lockBrand = (sql: Sql, id: string): Promise<Brand | undefined> => firstOf(sql.query<Brand>(statements.lock, [id]));

/** Waits for changes of these brands, and holds up the next one until the transaction ends. Others may share them. */
export const shareBrands = (sql: Sql, ids: readonly string[]): Promise<unknown> => sql.query(statements.share, [ids]);

/** Returns brands in ascending order of id, after `afterId`, also those that are being deleted. */
export const pageOfBrands = (sql: Sql, afterId: string, limit: number): Promise<Brand[]> =>
  sql.query<Brand>(statements.page, [afterId, limit]);

export const setTier = (sql: Sql, id: string, tier: Tier): Promise<Brand> => onlyOf(sql.query<Brand>(statements.setTier, [id, tier]));

export const setVerified = (sql: Sql, id: string, verified: boolean): Promise<Brand> =>
  onlyOf(sql.query<Brand>(statements.setVerified, [id, verified]));

export const setCell = (sql: Sql, id: string, cell: string | null): Promise<unknown> => sql.query(statements.setCell, [id, cell]);

/** Raises the epoch and, like `lockBrand`, locks the brand's row. */
export const raiseEpoch = (sql: Sql, id: string): Promise<Brand | undefined> => firstOf(sql.query<Brand>(statements.raiseEpoch, [id]));

/**
 * Raises the epochs of brands, also of those that are being deleted, above the ones they have and above the ones that others have seen.
 *
 * @param seen by brand; 0: none
 * @param aheadMs how far above the clock, at least
 */
export function raiseEpochsAbove(sql: Sql, seen: ReadonlyMap<string, number>, aheadMs: number): Promise<{ id: string; epoch: number }[]> {
  const rows = [...seen].map(([id, epoch]) => ({ id, epoch }));
  return sql.query(statements.raiseEpochsAbove, [aheadMs, ...SEEN.values(rows)]);
}

/** @param deletionSeconds leaves out brands whose deletion began longer ago: no gateway trusts their keys any more */
export const epochsChangedWithin = (sql: Sql, seconds: number, deletionSeconds: number): Promise<{ id: string; epoch: number }[]> =>
  sql.query(statements.changedSince, [seconds, deletionSeconds]);
