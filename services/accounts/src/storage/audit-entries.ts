import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";
import type { AuditEntry, AuditFilter, AuditOutcome } from "../domain/audit-entry.ts";
import { DELETION } from "../domain/brand.ts";
import type { Position } from "../domain/page-token.ts";
import { countOf, onlyOf } from "./rows.ts";

export const AUDIT_ENTRY_COLUMNS = `id, brand_id, actor, action, subject_id, fields, request_id, address, created_at, outcome, error_kind, finished_at, via,
  browser, role, tries`;

const ENDED = unnestRows({ id: "text", brand_id: "text" }, { after: 9 });

const statements = {
  insert: {
    name: "audit_entries.insert",
    text: `insert into accounts.audit_entries (id, brand_id, actor, action, subject_id, fields, request_id, address, via, role)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${AUDIT_ENTRY_COLUMNS}`,
  },
  insertEnded: {
    name: "audit_entries.insert_ended",
    text: `insert into accounts.audit_entries as e
             (id, brand_id, actor, action, subject_id, fields, request_id, address, browser, via, outcome, error_kind, finished_at)
           select t.id, t.brand_id, $1, $2, $3, '{}', $4, $5, $6, $7, $8, $9, now() from ${ENDED.relation}
               on conflict (id) do update set tries = e.tries + 1, finished_at = now(),
                 request_id = excluded.request_id, address = excluded.address, browser = excluded.browser`,
  },
  finish: {
    name: "audit_entries.finish",
    text: `update accounts.audit_entries
              set outcome = $3, error_kind = $4, subject_id = coalesce(subject_id, $5), finished_at = now()
            where brand_id = $1 and id = $2 and ($6::text is null or actor = $6) and outcome is null returning ${AUDIT_ENTRY_COLUMNS}`,
  },
  find: {
    name: "audit_entries.find",
    text: `select ${AUDIT_ENTRY_COLUMNS} from accounts.audit_entries where brand_id = $1 and id = $2 and ($3::text is null or actor = $3)`,
  },
  page: {
    name: "audit_entries.page",
    text: `select ${AUDIT_ENTRY_COLUMNS} from accounts.audit_entries e
            where e.brand_id = $1
              and ($2::text is null or coalesce(e.actor, 'operator') = $2 or e.via = $2)
              and ($3::text is null or e.action = $3 or split_part(e.action, '.', 1) = $3)
              and e.created_at >= coalesce($4, '-infinity'::timestamptz) and e.created_at < coalesce($5, 'infinity'::timestamptz)
              and (e.created_at, e.id) < (coalesce($6, 'infinity'::timestamptz), coalesce($7, ''))
            order by e.created_at desc, e.id desc limit $8`,
  },
  unfinished: {
    name: "audit_entries.unfinished",
    text: `select ${AUDIT_ENTRY_COLUMNS} from accounts.audit_entries
            where outcome is null and created_at >= $1::timestamptz - make_interval(secs => $2) order by created_at, id`,
  },
  endedAmong: {
    name: "audit_entries.ended_among",
    text: "select id from accounts.audit_entries where id = any($1::text[]) and outcome is not null",
  },
  newest: {
    name: "audit_entries.newest",
    text: "select created_at from accounts.audit_entries where request_id <> $1 order by created_at desc limit 1",
  },
  /** A deletion could not continue without its entry. So the entry stays until the deletion has finished, and its time counts from then. */
  deleteOld: {
    name: "audit_entries.delete_old",
    text: `delete from accounts.audit_entries where id = any(array(
             select id from accounts.audit_entries where created_at < now() - make_interval(days => $1)
                and (action <> '${DELETION}' or finished_at < now() - make_interval(days => $1))
              order by created_at limit $2 for update skip locked)) returning 1`,
  },
} satisfies Record<string, Statement>;

/** An entry about what is about to be done. */
export type NewAuditEntry = Omit<AuditEntry, "created_at" | "outcome" | "error_kind" | "finished_at" | "browser" | "tries">;

/** An entry about what has ended, of one or more brands. */
export type EndedAuditEntry = Pick<
  AuditEntry,
  "actor" | "action" | "subject_id" | "request_id" | "address" | "browser" | "via" | "outcome" | "error_kind"
>;

export async function insertAuditEntry(sql: Sql, entry: NewAuditEntry): Promise<AuditEntry> {
  const { id, brand_id, actor, action, subject_id, fields, request_id, address, via, role } = entry;
  const values = [id, brand_id, actor, action, subject_id, fields, request_id, address, via, role];
  return onlyOf(sql.query<AuditEntry>(statements.insert, values));
}

/** Writes an entry for each of these brands. One with an id that exists counts as another try of the same, and has the last one's origin. */
export async function insertEndedAuditEntries(
  sql: Sql,
  entry: EndedAuditEntry,
  rows: readonly { readonly id: string; readonly brand_id: string }[],
): Promise<void> {
  const { actor, action, subject_id, request_id, address, browser, via, outcome, error_kind } = entry;
  const shared = [actor, action, subject_id, request_id, address, browser, via, outcome, error_kind];
  await sql.query(statements.insertEnded, [...shared, ...ENDED.values(rows)]);
}

export interface AuditEntryKey {
  readonly brandId: string;
  readonly id: string;
  /** Only an entry of this person; null: of anyone. */
  readonly actor: string | null;
}

export interface AuditResult {
  readonly outcome: AuditOutcome;
  readonly errorKind: string | null;
  /** Set if the entry has no subject. */
  readonly subjectId: string | null;
}

/** Adds the outcome to an entry without one. Returns the entry as it is then; undefined if the brand has no such entry. */
export async function finishAuditEntry(
  sql: Sql,
  { brandId, id, actor }: AuditEntryKey,
  { outcome, errorKind, subjectId }: AuditResult,
): Promise<AuditEntry | undefined> {
  const [finished] = await sql.query<AuditEntry>(statements.finish, [brandId, id, outcome, errorKind, subjectId, actor]);
  if (finished !== undefined) return finished;
  const [before] = await sql.query<AuditEntry>(statements.find, [brandId, id, actor]);
  return before;
}

/** Returns the entries of a brand that the filter selects, newest first, after a time and id. */
export function pageOfAuditEntries(sql: Sql, filter: AuditFilter, after: Position, limit: number): Promise<AuditEntry[]> {
  const [createdAt, id] = after;
  const { brandId, actor, action, from, to } = filter;
  return sql.query<AuditEntry>(statements.page, [brandId, actor, action, from, to, createdAt, id, limit]);
}

/** Returns the entries without an outcome from the `seconds` before a time, of all brands, oldest first. */
export const unfinishedAuditEntries = (sql: Sql, before: string, seconds: number): Promise<AuditEntry[]> =>
  sql.query<AuditEntry>(statements.unfinished, [before, seconds]);

/** Returns those of these ids whose entries have an outcome. */
export async function endedAmong(sql: Sql, ids: readonly string[]): Promise<string[]> {
  return (await sql.query<{ id: string }>(statements.endedAmong, [ids])).map(({ id }) => id);
}

/** Returns the time of the newest entry of all brands, but for those of a request id. */
export async function newestAuditEntryAt(sql: Sql, exceptRequestId: string): Promise<string | null> {
  const [row] = await sql.query<{ created_at: string }>(statements.newest, [exceptRequestId]);
  return row?.created_at ?? null;
}

/** Deletes up to `limit` entries that are older than `days`. Returns how many. */
export const deleteOldAuditEntries = (sql: Sql, days: number, limit: number): Promise<number> =>
  countOf(sql.query(statements.deleteOld, [days, limit]));
