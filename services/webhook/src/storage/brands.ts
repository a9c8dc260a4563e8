import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
  known: { name: "brands.known", text: "select b.brand_id from webhook.brands b where b.brand_id = any($1::text[])" },
  remember: {
    name: "brands.remember",
    text: "insert into webhook.brands (brand_id) values ($1) on conflict (brand_id) do nothing",
  },
  lock: { name: "brands.lock", text: "select from webhook.brands b where b.brand_id = $1 for no key update" },
} satisfies Record<string, Statement>;

/** Returns the ids that accounts confirmed before. */
export async function knownAmong(sql: Sql, brandIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ brand_id: string }>(statements.known, [brandIds]);
  return rows.map(({ brand_id }) => brand_id);
}

export async function rememberBrand(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.remember, [brandId]);
}

/** Until the transaction ends, no other one adds receivers to this brand. Accounts must have confirmed it. */
export async function lockBrand(sql: Sql, brandId: string): Promise<void> {
  await rememberBrand(sql, brandId);
  await sql.query(statements.lock, [brandId]);
}
