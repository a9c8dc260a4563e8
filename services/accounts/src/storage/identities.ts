import { countOf, firstOf, isFound, statementsOf, type Sql } from "@brand-records/postgres";
import type { Identity, IdTokenUse } from "../domain/sign-in.ts";
import { oldRowsOf } from "./row-deletions.ts";

const statements = statementsOf("identities", {
  find: "select email from accounts.identities where issuer = $1 and subject = $2",
  bind: "insert into accounts.identities (issuer, subject, email) values ($1, $2, $3) on conflict do nothing",
  deleteOf: "delete from accounts.identities where email = $1 returning subject",
  use: "insert into accounts.used_id_tokens (token_hash, expires_at) values ($1, $2) on conflict do nothing returning 1",
});

/** Returns the address of the person that the identity is bound to. */
export const findBoundEmail = async (sql: Sql, { issuer, subject }: Identity): Promise<string | undefined> =>
  (await firstOf(sql.query<{ email: string }>(statements.find, [issuer, subject])))?.email;

/** Binds an identity to a person, unless it is bound, or another identity of the issuer is bound to the person. */
export const bindIdentity = (sql: Sql, { issuer, subject }: Identity, email: string): Promise<unknown> =>
  sql.query(statements.bind, [issuer, subject, email]);

/** Returns how many there were. */
export const deleteIdentitiesOf = (sql: Sql, email: string): Promise<number> => countOf(sql.query(statements.deleteOf, [email]));

/**
 * Records the use of an ID token. Returns false if it was used before. Of several transactions that use one token at a time, the others
 * wait for the first, and one commits with true.
 */
export const useIdToken = (sql: Sql, { hash, expiresAt }: IdTokenUse): Promise<boolean> =>
  isFound(sql.query(statements.use, [hash, expiresAt.toISOString()]));

/** Deletes uses of tokens that no process has accepted for a number of seconds. */
export const deleteExpiredIdTokens = oldRowsOf("used_id_tokens", "expires_at <= now() - make_interval(secs => $1)");
