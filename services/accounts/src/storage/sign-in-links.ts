import { countOf, isFound, onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { SignInLink } from "../domain/sign-in.ts";
import { oldRowsOf } from "./row-deletions.ts";

const statements = statementsOf("sign_in_links", {
  insert: `insert into accounts.sign_in_links (token_hash, email, expires_at, brand_id, made_by)
           values ($1, $2, now() + make_interval(secs => $3), $4, $5) returning expires_at`,
  find: `select l.email, l.expires_at, l.used_at is not null as is_used, l.expires_at <= now() as is_expired, l.brand_id, b.name as brand_name,
                  l.made_by
             from accounts.sign_in_links l left join accounts.brands b on b.id = l.brand_id where l.token_hash = $1`,
  use: `update accounts.sign_in_links set used_at = now()
            where token_hash = $1 and used_at is null and expires_at > now() returning 1`,
  deleteMadeBy: "delete from accounts.sign_in_links where brand_id = $1 and made_by = $2",
  deleteOf: "delete from accounts.sign_in_links where email = $1",
  deleteUnusedOf: "delete from accounts.sign_in_links where email = $1 and ($2::text is null or brand_id = $2) and used_at is null",
  deleteUnused: `delete from accounts.sign_in_links where token_hash = any(array(
             select token_hash from accounts.sign_in_links where used_at is null limit $1)) returning 1`,
});

interface NewLink extends Pick<SignInLink, "email" | "scope"> {
  readonly tokenHash: Buffer;
  readonly ttlSeconds: number;
}

/** Returns when the link expires. */
export async function insertSignInLink(sql: Sql, { tokenHash, email, ttlSeconds, scope }: NewLink): Promise<string> {
  const values = [tokenHash, email, ttlSeconds, scope?.brandId ?? null, scope?.madeBy ?? null];
  return (await onlyOf(sql.query<{ expires_at: string }>(statements.insert, values))).expires_at;
}

export async function findSignInLink(sql: Sql, tokenHash: Buffer): Promise<SignInLink | undefined> {
  const [row] = await sql.query<LinkRow>(statements.find, [tokenHash]);
  if (row === undefined) return undefined;
  const { brand_id, made_by, ...link } = row;
  return { ...link, scope: brand_id === null || made_by === null ? null : { brandId: brand_id, madeBy: made_by } };
}

type LinkRow = Omit<SignInLink, "scope"> & { readonly brand_id: string | null; readonly made_by: string | null };

/** Uses up a link. Returns true to one of any number of simultaneous callers, false to all others and for an expired link. */
export const useSignInLink = (sql: Sql, tokenHash: Buffer): Promise<boolean> => isFound(sql.query(statements.use, [tokenHash]));

/** Deletes the links that a member made in a brand. */
export const deleteLinksMadeBy = (sql: Sql, brandId: string, madeBy: string): Promise<unknown> =>
  sql.query(statements.deleteMadeBy, [brandId, madeBy]);

/** Deletes the links that sign a person in. */
export const deleteLinksOf = (sql: Sql, email: string): Promise<unknown> => sql.query(statements.deleteOf, [email]);

/** Deletes the unused links that sign a person in: all of them, or those that open this brand alone. */
export const deleteUnusedLinksOf = (sql: Sql, email: string, brandId: string | null): Promise<unknown> =>
  sql.query(statements.deleteUnusedOf, [email, brandId]);

/** Deletes up to `limit` unused links, of anyone. Returns how many. */
export const deleteUnusedLinks = (sql: Sql, limit: number): Promise<number> => countOf(sql.query(statements.deleteUnused, [limit]));

/** Deletes links that expired a number of days ago, used or not. */
export const deleteExpiredLinks = oldRowsOf("sign_in_links", "expires_at <= now() - make_interval(days => $1)");
