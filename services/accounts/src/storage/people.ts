import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
  lock: { name: "people.lock", text: "select pg_advisory_xact_lock(hashtextextended('accounts.person ' || $1, 0))" },
} satisfies Record<string, Statement>;

/**
 * Makes transactions about one person run one after another: signing in, making an operator's link, erasing, and adding and removing
 * a membership. There is no row to lock, as a person is an address. Locked after the brand's row, where both are.
 */
export async function lockPerson(sql: Sql, email: string): Promise<void> {
  await sql.query(statements.lock, [email]);
}
