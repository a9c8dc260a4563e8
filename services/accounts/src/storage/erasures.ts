import { countOf, firstOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import { lockedKeys } from "./keys.ts";
import { settlesInMs } from "./settling.ts";

const OTHERS = unnestRows({ brand_id: "text" }, { as: "other", after: 2 });

const statements = statementsOf("erasures", {
  /** The clock's time: the transaction may have waited for the person's removal. */
  begin: "insert into accounts.erasures (email, pseudonym, begun_at) values ($1, $2, clock_timestamp()) on conflict (email) do nothing",
  find: `select pseudonym,
                  ${settlesInMs("begun_at")} as settles_in_ms
             from accounts.erasures where email = $1`,
  end: "delete from accounts.erasures where email = $1",
  // Batches keep each lock short, and an interruption loses one batch. The subject has no address of the network. What refusals are counted
  // by is a hash with the address, and the id of their entry: it goes, too.
  auditEntries: `update accounts.audit_entries set
             id = case when outcome = 'failed' and not (action like any ('{plan.%,receiver.%,delivery.%,replay.%}'))
                       then 'aud_' || replace(gen_random_uuid()::text, '-', '') else id end,
             actor = case when actor = $1 then $2 else actor end,
             subject_id = case when subject_id = $1 then $2 else subject_id end,
             via = case when via = $1 then $2 else via end,
             address = case when actor = $1 or via = $1 then null else address end,
             browser = case when actor = $1 or via = $1 then null else browser end
            where id = any(array(select id from accounts.audit_entries where actor = $1 or subject_id = $1 or via = $1 limit $3)) returning 1`,
  keys: `update accounts.keys set
             created_by = case when created_by = $1 then $2 else created_by end,
             revoked_by = case when revoked_by = $1 then $2 else revoked_by end
            where id = any(${lockedKeys("created_by = $1 or revoked_by = $1")})`,
  brands: `select b.id as brand_id from accounts.brands b where b.deletion_started_at is null and b.id in (
             select brand_id from accounts.audit_entries where actor in ($1, $2) or subject_id in ($1, $2) or via in ($1, $2)
             union select brand_id from accounts.keys where created_by in ($1, $2) or revoked_by in ($1, $2)
             union select other.brand_id from ${OTHERS.relation}) order by b.id for share`,
});

/** An erasure that has begun and not ended. */
export interface Erasure {
  readonly pseudonym: string;
  /** Time until whatever began before the erasure has ended. */
  readonly settles_in_ms: number;
}

/** Remembers the pseudonym of a person, unless one is remembered already. Returns the erasure as it is. */
export async function beginErasure(sql: Sql, email: string, pseudonym: string): Promise<Erasure> {
  await sql.query(statements.begin, [email, pseudonym]);
  const begun = await findErasure(sql, email);
  if (begun === undefined) throw new Error("the erasure that was begun does not exist");
  return begun;
}

export const findErasure = (sql: Sql, email: string): Promise<Erasure | undefined> => firstOf(sql.query<Erasure>(statements.find, [email]));

/** Forgets the address and its pseudonym. */
export const endErasure = (sql: Sql, email: string): Promise<unknown> => sql.query(statements.end, [email]);

/** Puts the pseudonym in place of the address in up to `limit` audit entries. Returns how many. */
export const eraseFromAuditEntries = (sql: Sql, email: string, pseudonym: string, limit: number): Promise<number> =>
  countOf(sql.query(statements.auditEntries, [email, pseudonym, limit]));

/** Puts the pseudonym in place of the address in keys. */
export const eraseFromKeys = (sql: Sql, email: string, pseudonym: string): Promise<unknown> =>
  sql.query(statements.keys, [email, pseudonym]);

/**
 * Returns the brands whose audit entries or keys name the address or the pseudonym, and the given ones; none that does not exist or is
 * being deleted. Locks them against deletion: of a deleted brand the audit log keeps one entry.
 */
export async function lockBrandsNaming(
  sql: Sql,
  email: string,
  pseudonym: string,
  others: readonly string[],
): Promise<{ brand_id: string }[]> {
  return sql.query(statements.brands, [email, pseudonym, ...OTHERS.values(others.map((brand_id) => ({ brand_id })))]);
}
