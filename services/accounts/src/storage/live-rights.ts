import { unnestRows, type Sql } from "@brand-records/postgres";
import type { Identity } from "../domain/sign-in.ts";

const MEMBERS = unnestRows({ brand_id: "text", email: "text" }, { as: "asked" });
const IDENTITIES = unnestRows({ issuer: "text", subject: "text", email: "text" }, { as: "asked" });

export interface MemberKey {
  readonly brand_id: string;
  readonly email: string;
}

export interface BoundIdentity extends Identity {
  readonly email: string;
}

export interface BrandState {
  readonly id: string;
  readonly tier: string;
  readonly verified: boolean;
}

/** Reads a schema of accounts that is not restored: of any release, under any name. */
export interface LiveRights {
  /** Returns what tells this schema from any other, of this server and of others. */
  place(): Promise<string>;
  newestEntryAt(): Promise<string | null>;
  deletedBrands(): Promise<string[]>;
  /** Returns those of these keys that are revoked. */
  revokedAmong(keyIds: readonly string[]): Promise<string[]>;
  rolesOf(members: readonly MemberKey[]): Promise<(MemberKey & { readonly role: string })[]>;
  /** Returns those of these identities that are bound to the same person. */
  boundAmong(identities: readonly BoundIdentity[]): Promise<BoundIdentity[]>;
  brandsAmong(ids: readonly string[]): Promise<BrandState[]>;
}

/** @param schema a name in lower case, which needs no quotes */
export function liveRights(live: Sql, schema: string): LiveRights {
  const query = <Row>(name: string, text: string, values: unknown[] = []): Promise<Row[]> =>
    live.query<Row>({ name: `live_rights.${name}`, text }, values);
  return {
    place: () => placeOf(live, schema),
    async newestEntryAt() {
      const [row] = await query<{ at: string | null }>("newest", `select max(created_at) as at from ${schema}.audit_entries`);
      return row?.at ?? null;
    },
    async deletedBrands() {
      const rows = await query<{ brand_id: string }>(
        "deleted",
        `select brand_id from ${schema}.audit_entries where action = 'brand.delete'`,
      );
      return rows.map(({ brand_id }) => brand_id);
    },
    async revokedAmong(keyIds) {
      const text = `select id from ${schema}.keys where id = any($1::text[]) and revoked_at is not null`;
      return (await query<{ id: string }>("revoked", text, [keyIds])).map(({ id }) => id);
    },
    rolesOf: (members) =>
      query(
        "roles",
        `select m.brand_id, m.email, m.role from ${schema}.members m natural join ${MEMBERS.relation}`,
        MEMBERS.values(members),
      ),
    boundAmong: (identities) =>
      query(
        "bound",
        `select i.issuer, i.subject, i.email from ${schema}.identities i natural join ${IDENTITIES.relation}`,
        IDENTITIES.values(identities),
      ),
    brandsAmong: (ids) => query("brands", `select id, tier, verified from ${schema}.brands where id = any($1::text[])`, [ids]),
  };
}

/** Returns what tells a schema of accounts from any other: two names of one schema have the same. */
export async function placeOf(sql: Sql, schema: string): Promise<string> {
  const [row] = await sql.query<{ place: string }>(
    {
      name: `live_rights.place.${schema}`,
      text: `select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), d.oid, '${schema}.brands'::regclass::oid) as place
               from pg_database d where d.datname = current_database()`,
    },
    [],
  );
  if (row === undefined) throw new Error("a session has no database");
  return row.place;
}
