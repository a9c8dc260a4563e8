import { firstOf, onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { NewAuditEntry, SentAuditEntry } from "@brand-records/service-runtime";
import type { AuditEntry, AuditFilter } from "../domain/audit-entry.ts";
import { DELETION } from "../domain/brand.ts";
import type { Position } from "../domain/page-token.ts";
import { oldRowsOf } from "./row-deletions.ts";

export const AUDIT_ENTRY_COLUMNS = `id, brand_id, actor, action, subject_id, fields, request_id, address, created_at, outcome, error_kind, finished_at, via,
  browser, role, tries`;

/** Entries as one JSON array: `fields` is an array itself, which unnest would flatten. */
const writeText = (counted: string, isNews = ""): string => `
  with given as (
         select * from jsonb_to_recordset($1::jsonb) as g(
           id text, brand_id text, actor text, via text, action text, subject_id text, fields text[], role text, request_id text, address text,
           browser text, outcome text, error_kind text, tries integer, created_at timestamptz)),
       announced as (
         delete from accounts.audit_entries where id = any(array(
           select a.id from accounts.audit_epoch p cross join given g cross join lateral (
             select x.id from accounts.audit_entries x
              where x.brand_id = g.brand_id and x.action = g.action and x.request_id = g.request_id
                and x.actor is not distinct from g.actor and not x.recorded
                and x.created_at > coalesce(g.created_at, now()) - interval '10 minutes'
                and x.created_at < coalesce(g.created_at, now()) + interval '10 minutes'
              limit 10) a
            where p.announced_until > now() - interval '1 hour')))
  insert into accounts.audit_entries as e (id, brand_id, actor, via, action, subject_id, fields, role, request_id, address, browser, outcome,
                                           error_kind, tries, created_at, finished_at, recorded)
  select g.id, g.brand_id, g.actor, g.via, g.action, g.subject_id, g.fields, g.role, g.request_id, g.address, g.browser, g.outcome,
         g.error_kind, coalesce(g.tries, 1), coalesce(g.created_at, clock_timestamp()), clock_timestamp(), true
    from given g
      on conflict (id) do update set ${counted}, finished_at = excluded.finished_at, request_id = excluded.request_id,
           address = excluded.address, browser = excluded.browser ${isNews}`;

/** Another service counts its own refusals up, and changes nothing else. */
const TAKES_COUNT = `where e.outcome = 'failed' and excluded.tries > e.tries and e.brand_id = excluded.brand_id and e.action = excluded.action
             and e.actor is not distinct from excluded.actor`;

const statements = statementsOf("audit_entries", {
  /** Takes the place of what a console or brandctl of 1.0 has announced of the same change. One with an id that exists is another try. */
  write: writeText("tries = e.tries + 1"),
  take: writeText("tries = excluded.tries", TAKES_COUNT),
  epoch: "select epoch from accounts.audit_epoch",
  newEpoch: "update accounts.audit_epoch set epoch = gen_random_uuid()::text",
  announce: `insert into accounts.audit_entries (id, brand_id, actor, action, subject_id, fields, request_id, address, via, role)
           select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 from accounts.audit_epoch
            where announced_until > now() and not exists (
              select from accounts.audit_entries a
               where a.brand_id = $2 and a.action = $4 and a.request_id = $7 and a.actor is not distinct from $3 and a.recorded
                 and a.created_at > now() - interval '10 minutes')
           returning ${AUDIT_ENTRY_COLUMNS}`,
  finish: `update accounts.audit_entries
              set outcome = $3, error_kind = $4, subject_id = coalesce(subject_id, $5), finished_at = now()
            where brand_id = $1 and id = $2 and ($6::text is null or actor = $6) and outcome is null and not recorded`,
  page: `select ${AUDIT_ENTRY_COLUMNS} from accounts.audit_entries e
            where e.brand_id = $1
              and ($2::text is null or coalesce(e.actor, 'operator') = $2 or e.via = $2)
              and ($3::text is null or e.action = $3 or split_part(e.action, '.', 1) = $3)
              and e.created_at >= coalesce($4, '-infinity'::timestamptz) and e.created_at < coalesce($5, 'infinity'::timestamptz)
              and (e.created_at, e.id) < (coalesce($6, 'infinity'::timestamptz), coalesce($7, ''))
            order by e.created_at desc, e.id desc limit $8`,
  endedAmong: "select id from accounts.audit_entries where id = any($1::text[]) and outcome is not null",
  newest: "select created_at from accounts.audit_entries where request_id <> $1 order by created_at desc limit 1",
});

/** Writes entries of changes that this transaction makes. */
export async function writeAuditEntries(sql: Sql, entries: readonly NewAuditEntry[]): Promise<void> {
  if (entries.length > 0) await sql.query(statements.write, [JSON.stringify(entries)]);
}

/** Writes entries of other services, with their times. What is there already stays, but for counts of refusals. */
export async function takeAuditEntries(sql: Sql, entries: readonly SentAuditEntry[]): Promise<void> {
  if (entries.length > 0) await sql.query(statements.take, [JSON.stringify(entries)]);
}

/** Returns what tells this audit log from one that was restored from a backup. */
export const auditEpoch = async (sql: Sql): Promise<string> => (await onlyOf(sql.query<{ epoch: string }>(statements.epoch))).epoch;

export const beginAuditEpoch = (sql: Sql): Promise<unknown> => sql.query(statements.newEpoch);

/** What a console or brandctl of 1.0 is about to do. */
export type Announcement = Pick<
  AuditEntry,
  "brand_id" | "actor" | "action" | "subject_id" | "fields" | "request_id" | "address" | "via" | "role"
>;

/** Writes an entry without an outcome, within a day of the update from 1.0, unless the change is recorded. Else returns undefined. */
export function announceAuditEntry(sql: Sql, id: string, entry: Announcement): Promise<AuditEntry | undefined> {
  const { brand_id, actor, action, subject_id, fields, request_id, address, via, role } = entry;
  return firstOf(
    sql.query<AuditEntry>(statements.announce, [id, brand_id, actor, action, subject_id, fields, request_id, address, via, role]),
  );
}

export interface AuditResult {
  readonly outcome: string;
  readonly errorKind: string | null;
  /** Set if the entry has no subject. */
  readonly subjectId: string | null;
}

/** Adds the outcome to what was announced, unless the change's own entry has taken its place. @param actor null: of anyone */
export const finishAuditEntry = (
  sql: Sql,
  { brandId, id, actor }: { readonly brandId: string; readonly id: string; readonly actor: string | null },
  { outcome, errorKind, subjectId }: AuditResult,
): Promise<unknown> => sql.query(statements.finish, [brandId, id, outcome, errorKind, subjectId, actor]);

/** Returns the entries of a brand that the filter selects, newest first, after a time and id. */
export function pageOfAuditEntries(sql: Sql, filter: AuditFilter, after: Position, limit: number): Promise<AuditEntry[]> {
  const [createdAt, id] = after;
  const { brandId, actor, action, from, to } = filter;
  return sql.query<AuditEntry>(statements.page, [brandId, actor, action, from, to, createdAt, id, limit]);
}

/** Returns those of these ids whose entries have an outcome. */
export async function endedAmong(sql: Sql, ids: readonly string[]): Promise<string[]> {
  return (await sql.query<{ id: string }>(statements.endedAmong, [ids])).map(({ id }) => id);
}

/** Returns the time of the newest entry of all brands, but for those of a request id. */
export const newestAuditEntryAt = async (sql: Sql, exceptRequestId: string): Promise<string | null> =>
  (await firstOf(sql.query<{ created_at: string }>(statements.newest, [exceptRequestId])))?.created_at ?? null;

/**
 * Deletes entries that are older than a number of days. A deletion could not continue without its entry. So the entry stays until the deletion has
 * finished, and its time counts from then.
 */
export const deleteOldAuditEntries = oldRowsOf(
  "audit_entries",
  `created_at < now() - make_interval(days => $1) and (action <> '${DELETION}' or finished_at < now() - make_interval(days => $1))
    order by created_at`,
);
