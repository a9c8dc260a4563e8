import { statementsOf, type Sql } from "@brand-records/postgres";
import type { ExportPersonResponse } from "@brand-records/proto/accounts/v1";
import type { Position } from "../domain/page-token.ts";
import type { ExportSection } from "../domain/person.ts";

const statements = statementsOf("people", {
  lock: "select pg_advisory_xact_lock(hashtextextended('accounts.person ' || $1, 0))",
});

/**
 * Makes transactions about one person run one after another: signing in, making an operator's link, erasing, and adding and removing
 * a membership. There is no row to lock, as a person is an address. Locked after the brand's row, where both are.
 */
export const lockPerson = (sql: Sql, email: string): Promise<unknown> => sql.query(statements.lock, [email]);

/** A page in the order of time, then id: both are selected as `at` and `position_id`. $1 is the address, $2 and $3 the position. */
const page = (select: string): string => `
  select * from (${select}) r where (r.at, r.position_id) > (coalesce($2, '-infinity'::timestamptz), coalesce($3, ''))
   order by r.at, r.position_id limit $4`;

/** An id of a row whose key is the hash of a token: it is not that hash. */
const tokenId = `encode(sha256(token_hash), 'hex') collate "C" as position_id`;

/** No statement selects a token's hash, or another person's address. */
const sections = statementsOf<ExportSection>("person_records", {
  memberships:
    page(`select m.created_at as at, m.brand_id as position_id, m.brand_id, b.name as brand_name, m.role, m.created_at, m.mail_receivers, m.mail_plans_and_keys,
            array(select distinct a.subject from accounts.mails a where (a.brand_id, a.email) = (m.brand_id, m.email) order by a.subject) as mails
       from accounts.members m join accounts.brands b on b.id = m.brand_id where m.email = $1`),
  sessions: page(`select created_at as at, ${tokenId}, email = $1 as of_person, issuer, brand_id, created_at, last_used_at
       from accounts.sessions where email = $1 or made_by = $1`),
  sign_in_links: page(`select created_at as at, ${tokenId}, email = $1 as of_person, brand_id, created_at, expires_at, used_at
       from accounts.sign_in_links where email = $1 or made_by = $1`),
  identities: page(`
       select bound_at as at, encode(sha256(convert_to(issuer || ' ' || subject, 'UTF8')), 'hex') collate "C" as position_id, issuer, subject, bound_at
       from accounts.identities where email = $1`),
  keys: page(`select created_at as at, id as position_id, id, brand_id, name, hint, created_by = $1 as created_by_person, created_at,
            coalesce(revoked_by = $1, false) as revoked_by_person, revoked_at
       from accounts.keys where created_by = $1 or revoked_by = $1`),
  audit_entries: page(`select created_at as at, id as position_id, id, brand_id,
            case when actor = $1 then 'person' when actor is null then 'operator' else 'other' end as by, action,
            case when subject_id = $1 or subject_id not like '%@%' then subject_id end as subject_id, fields, request_id,
            case when actor = $1 then address end as address,
            case when actor = $1 then browser end as browser, created_at, outcome, error_kind, coalesce(via = $1, false) as via_person
       from accounts.audit_entries where actor = $1 or subject_id = $1 or via = $1`),
  erasures: page(
    `select begun_at as at, pseudonym collate "C" as position_id, pseudonym, begun_at from accounts.erasures where email = $1`,
  ),
});

/** A record as it is exported. */
type PersonRecord<Section extends ExportSection> = ExportPersonResponse[Section][number];

interface PositionedRecord<Section extends ExportSection> {
  readonly record: PersonRecord<Section>;
  readonly createdAt: string;
  readonly id: string;
}

/** Returns records of one section, oldest first, after a time and id. */
export async function pageOfPersonRecords<Section extends ExportSection>(
  sql: Sql,
  email: string,
  section: Section,
  [createdAt, id]: Position,
  limit: number,
): Promise<PositionedRecord<Section>[]> {
  const rows = await sql.query<{ at: string; position_id: string }>(sections[section], [email, createdAt, id, limit]);
  return rows.map(({ at, position_id, ...record }) => ({ record: record as PersonRecord<Section>, createdAt: at, id: position_id }));
}
