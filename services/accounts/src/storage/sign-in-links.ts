import type { Sql, Statement } from "@brand-records/postgres";
import type { SignInLink } from "../domain/sign-in.ts";

const statements = {
  insert: {
    name: "sign_in_links.insert",
    text: `insert into accounts.sign_in_links (token_hash, email, expires_at) values ($1, $2, now() + make_interval(secs => $3))
           returning expires_at`,
  },
  find: {
    name: "sign_in_links.find",
    text: `select email, expires_at, used_at is not null as is_used, expires_at <= now() as is_expired
             from accounts.sign_in_links where token_hash = $1`,
  },
  use: {
    name: "sign_in_links.use",
    text: `update accounts.sign_in_links set used_at = now()
            where token_hash = $1 and used_at is null and expires_at > now() returning 1`,
  },
  deleteExpired: {
    name: "sign_in_links.delete_expired",
    text: `delete from accounts.sign_in_links where token_hash = any(array(
             select token_hash from accounts.sign_in_links where expires_at <= now() - make_interval(days => $1)
              limit $2 for update skip locked)) returning 1`,
  },
} satisfies Record<string, Statement>;

/** Returns when the link expires. */
export async function insertSignInLink(
  sql: Sql,
  { tokenHash, email, ttlSeconds }: { readonly tokenHash: Buffer; readonly email: string; readonly ttlSeconds: number },
): Promise<string> {
  const [row] = await sql.query<{ expires_at: string }>(statements.insert, [tokenHash, email, ttlSeconds]);
  if (row === undefined) throw new Error("insert returned no row");
  return row.expires_at;
}

export async function findSignInLink(sql: Sql, tokenHash: Buffer): Promise<SignInLink | undefined> {
  const [row] = await sql.query<SignInLink>(statements.find, [tokenHash]);
  return row;
}

/** Uses up a link. Returns true to one of any number of simultaneous callers, false to all others and for an expired link. */
export async function useSignInLink(sql: Sql, tokenHash: Buffer): Promise<boolean> {
  return (await sql.query(statements.use, [tokenHash])).length > 0;
}

/** Deletes up to `limit` links that expired `days` ago, used or not. Returns how many. */
export async function deleteExpiredLinks(sql: Sql, days: number, limit: number): Promise<number> {
  return (await sql.query(statements.deleteExpired, [days, limit])).length;
}
