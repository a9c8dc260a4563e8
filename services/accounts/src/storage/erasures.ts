import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
  begin: {
    name: "erasures.begin",
    text: "insert into accounts.erasures (email, pseudonym) values ($1, $2) on conflict (email) do nothing",
  },
  find: { name: "erasures.find", text: "select pseudonym from accounts.erasures where email = $1" },
  end: { name: "erasures.end", text: "delete from accounts.erasures where email = $1" },
  // Batches keep each lock short, and an interruption loses one batch. The subject has no address of the network.
  auditEntries: {
    name: "erasures.audit_entries",
    text: `update accounts.audit_entries set
             actor = case when actor = $1 then $2 else actor end,
             subject_id = case when subject_id = $1 then $2 else subject_id end,
             via = case when via = $1 then $2 else via end,
             address = case when actor = $1 or via = $1 then null else address end
            where id = any(array(select id from accounts.audit_entries where actor = $1 or subject_id = $1 or via = $1 limit $3)) returning 1`,
  },
  keys: {
    name: "erasures.keys",
    text: `update accounts.keys set
             created_by = case when created_by = $1 then $2 else created_by end,
             revoked_by = case when revoked_by = $1 then $2 else revoked_by end
            where created_by = $1 or revoked_by = $1`,
  },
  brands: {
    name: "erasures.brands",
    text: `select brand_id from accounts.audit_entries where actor = $1 or subject_id = $1 or via = $1
           union select brand_id from accounts.keys where created_by = $1 or revoked_by = $1
           union select unnest($2::text[]) order by brand_id`,
  },
} satisfies Record<string, Statement>;

/** Remembers the pseudonym of a person, unless one is remembered already. Returns the one that is. */
export async function beginErasure(sql: Sql, email: string, pseudonym: string): Promise<string> {
  await sql.query(statements.begin, [email, pseudonym]);
  const begun = await findErasure(sql, email);
  if (begun === undefined) throw new Error("the erasure that was begun does not exist");
  return begun;
}

/** Returns the pseudonym of an erasure that has begun and not ended. */
export async function findErasure(sql: Sql, email: string): Promise<string | undefined> {
  const [row] = await sql.query<{ pseudonym: string }>(statements.find, [email]);
  return row?.pseudonym;
}

export async function endErasure(sql: Sql, email: string): Promise<void> {
  await sql.query(statements.end, [email]);
}

/** Puts the pseudonym in place of the address in up to `limit` audit entries. Returns how many. */
export async function eraseFromAuditEntries(sql: Sql, email: string, pseudonym: string, limit: number): Promise<number> {
  return (await sql.query(statements.auditEntries, [email, pseudonym, limit])).length;
}

/** Puts the pseudonym in place of the address in keys. */
export async function eraseFromKeys(sql: Sql, email: string, pseudonym: string): Promise<void> {
  await sql.query(statements.keys, [email, pseudonym]);
}

/** Returns the brands whose audit entries or keys name the pseudonym, and the given ones. */
export async function brandsNaming(sql: Sql, pseudonym: string, others: readonly string[]): Promise<{ brand_id: string }[]> {
  return sql.query(statements.brands, [pseudonym, others]);
}
