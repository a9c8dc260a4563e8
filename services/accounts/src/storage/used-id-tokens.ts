import type { Sql, Statement } from "@brand-records/postgres";
import type { IdTokenUse } from "../domain/sign-in.ts";

const statements = {
  insert: {
    name: "used_id_tokens.insert",
    text: "insert into accounts.used_id_tokens (token_hash, expires_at) values ($1, $2) on conflict do nothing returning 1",
  },
  deleteExpired: {
    name: "used_id_tokens.delete_expired",
    text: `delete from accounts.used_id_tokens where token_hash = any(array(
             select token_hash from accounts.used_id_tokens where expires_at <= now() limit $1 for update skip locked)) returning 1`,
  },
} satisfies Record<string, Statement>;

/**
 * Records the use of an ID token. Returns false if it was used before. Of several transactions that use one token at a time, the others
 * wait for the first, and one commits with true.
 */
export async function useIdToken(sql: Sql, { hash, expiresAt }: IdTokenUse): Promise<boolean> {
  return (await sql.query(statements.insert, [hash, expiresAt.toISOString()])).length === 1;
}

/** Deletes up to `limit` uses of tokens that no process accepts any more. Returns how many. */
export async function deleteExpiredIdTokens(sql: Sql, limit: number): Promise<number> {
  return (await sql.query(statements.deleteExpired, [limit])).length;
}
