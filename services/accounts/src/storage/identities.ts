import type { Sql, Statement } from "@brand-records/postgres";
import type { Identity } from "../domain/sign-in.ts";

const statements = {
  find: { name: "identities.find", text: "select email from accounts.identities where issuer = $1 and subject = $2" },
  bind: {
    name: "identities.bind",
    text: "insert into accounts.identities (issuer, subject, email) values ($1, $2, $3) on conflict do nothing",
  },
  deleteOf: { name: "identities.delete_of", text: "delete from accounts.identities where email = $1 returning subject" },
} satisfies Record<string, Statement>;

/** Returns the address of the person that the identity is bound to. */
export async function findBoundEmail(sql: Sql, { issuer, subject }: Identity): Promise<string | undefined> {
  const [row] = await sql.query<{ email: string }>(statements.find, [issuer, subject]);
  return row?.email;
}

/** Binds an identity to a person, unless it is bound, or another identity of the issuer is bound to the person. */
export async function bindIdentity(sql: Sql, { issuer, subject }: Identity, email: string): Promise<void> {
  await sql.query(statements.bind, [issuer, subject, email]);
}

/** Returns how many there were. */
export async function deleteIdentitiesOf(sql: Sql, email: string): Promise<number> {
  return (await sql.query(statements.deleteOf, [email])).length;
}
