import type { Permission } from "@brand-records/ids";
import { firstOf, onlyOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import type { Principal } from "@brand-records/proto/accounts/v1";
import type { Key } from "../domain/key.ts";
import type { Position } from "../domain/page-token.ts";

const COLUMNS = "id, brand_id, environment, name, permissions, hint, created_by, created_at, last_used_at, revoked_at, revoked_by";

/** Keys with one name to return: enough to notice and to revoke. */
const SAME_NAME_MAX = 10;

const LAST_USES = unnestRows({ id: "text", at: "timestamptz" }, { as: "used" });

/**
 * The ids of keys, whose rows it locks in ascending order of id. Statements that change several keys begin with it, in every process: in
 * the order of an index, or of the table, two would wait for each other.
 */
export const lockedKeys = (condition: string): string => `array(select id from accounts.keys where ${condition} order by id for update)`;

const statements = statementsOf("keys", {
  // One statement for principal and epoch, so that both are of the same moment.
  verify: `select k.id as key_id, k.name as key_name, k.permissions, b.id as brand_id, b.name as brand_name, b.tier, b.verified, b.epoch, b.cell
             from accounts.keys k join accounts.brands b on b.id = k.brand_id
            where k.key_hash = any($1) and k.environment = $2 and k.revoked_at is null`,
  insert: `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${COLUMNS}`,
  find: `select ${COLUMNS} from accounts.keys where id = $1`,
  page: `select ${COLUMNS} from accounts.keys
            where brand_id = $1
              and (revoked_at is null, created_at, id) < (coalesce($2, true), coalesce($3, 'infinity'::timestamptz), coalesce($4, ''))
            order by (revoked_at is null) desc, created_at desc, id desc limit $5`,
  ofIds: `select ${COLUMNS} from accounts.keys where brand_id = $1 and id = any($2::text[])
            order by (revoked_at is null) desc, created_at desc, id desc`,
  countActive: "select count(*)::int as keys from accounts.keys where brand_id = $1 and revoked_at is null",
  unrevoked: `select ${COLUMNS} from accounts.keys where id > $1 and revoked_at is null order by id limit $2`,
  sameName: `select ${COLUMNS} from accounts.keys
            where brand_id = $1 and environment = $2 and lower(name) = lower($3) and revoked_at is null order by created_at desc, id desc limit ${SAME_NAME_MAX}`,
  revoke: `update accounts.keys set revoked_at = now(), revoked_by = $2 where id = $1 and revoked_at is null returning ${COLUMNS}`,
  /** Reads every key: for the start, and for a process that was frozen. */
  underOthers: `select k.pepper_version as "pepperVersion", count(*) as keys from accounts.keys k
            where k.revoked_at is null and k.environment = $1 and k.pepper_version <> all($2::int[])
            group by k.pepper_version order by k.pepper_version`,
  writeLastUses: `update accounts.keys k set last_used_at = greatest(k.last_used_at, used.at)
             from ${LAST_USES.relation} where k.id = used.id and k.id = any(${lockedKeys(`id = any(${LAST_USES.arrays.id})`)})`,
});

export interface NewKey extends Pick<Key, "id" | "brand_id" | "environment" | "name" | "hint" | "created_by"> {
  readonly permissions: readonly Permission[];
  readonly pepperVersion: number;
  readonly keyHash: Buffer;
}

/** Returns the principal of the key with one of these hashes, unless it is revoked or of another environment. */
export const findPrincipal = (sql: Sql, keyHashes: readonly Buffer[], environment: string): Promise<Principal | undefined> =>
  firstOf(sql.query<Principal>(statements.verify, [keyHashes, environment]));

export function insertKey(sql: Sql, key: NewKey): Promise<Key> {
  const { id, brand_id, environment, name, permissions, hint, pepperVersion, keyHash, created_by } = key;
  const values = [id, brand_id, environment, name, permissions, hint, pepperVersion, keyHash, created_by];
  return onlyOf(sql.query<Key>(statements.insert, values));
}

export const findKey = (sql: Sql, id: string): Promise<Key | undefined> => firstOf(sql.query<Key>(statements.find, [id]));

/** Returns the brand's keys after a position: first those that are not revoked, the newest of each first. */
export const pageOfKeys = (sql: Sql, brandId: string, after: Position, limit: number): Promise<Key[]> =>
  sql.query<Key>(statements.page, [brandId, after[0], after[1], after[2], limit]);

/** Returns those of these keys that the brand has, in the order of a page. */
export const keysWithIds = (sql: Sql, brandId: string, ids: readonly string[]): Promise<Key[]> =>
  sql.query<Key>(statements.ofIds, [brandId, ids]);

/** Counts the brand's keys that are not revoked. */
export const countActiveKeys = async (sql: Sql, brandId: string): Promise<number> =>
  (await firstOf(sql.query<{ keys: number }>(statements.countActive, [brandId])))?.keys ?? 0;

/** Returns keys of all brands that are not revoked, in ascending order of id, after `afterId`. */
export const pageOfUnrevokedKeys = (sql: Sql, afterId: string, limit: number): Promise<Key[]> =>
  sql.query<Key>(statements.unrevoked, [afterId, limit]);

/** Returns the brand's newest keys with this name, in capitals or not, that are not revoked, at most ten. */
export const keysWithName = (sql: Sql, { brand_id, environment, name }: Pick<Key, "brand_id" | "environment" | "name">): Promise<Key[]> =>
  sql.query<Key>(statements.sameName, [brand_id, environment, name]);

/** Returns undefined if the key is unknown or already revoked. */
export const markKeyRevoked = (sql: Sql, id: string, by: string): Promise<Key | undefined> =>
  firstOf(sql.query<Key>(statements.revoke, [id, by]));

export interface KeysUnderPepper {
  readonly pepperVersion: number;
  readonly keys: number;
}

/** Counts, by pepper, the environment's keys that are not revoked and stored under other peppers than these. Lowest version first. */
export const countKeysUnderOthers = (sql: Sql, pepperVersions: readonly number[], environment: string): Promise<KeysUnderPepper[]> =>
  sql.query<KeysUnderPepper>(statements.underOthers, [environment, pepperVersions]);

/** Moves last_used_at forward, never back. */
export async function writeLastUses(sql: Sql, lastUses: ReadonlyMap<string, number>): Promise<void> {
  const rows = [...lastUses].map(([id, at]) => ({ id, at: new Date(at).toISOString() }));
  await sql.query(statements.writeLastUses, LAST_USES.values(rows));
}
