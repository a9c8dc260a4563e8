import type { Database, Sql } from "@brand-records/postgres";
import type { ExportAuditResponse } from "@brand-records/proto/accounts/v1";
import { type AuditSink, type CallContext, MESSAGE_BYTES_MAX, type PlannedEntry } from "@brand-records/rpc";
import {
  countingId,
  nextEntryId,
  type NewAuditEntry,
  type RecordChange,
  recorderOf,
  refusedEntry,
  type SentAuditEntry,
} from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import type { AccountsDependencies } from "../dependencies.ts";
import { type AuditEntry, type AuditFilter, isNotice, mayAnnounce, scopeOf } from "../domain/audit-entry.ts";
import { brandDeleted, SETTLED_AFTER_SECONDS } from "../domain/brand.ts";
import { pageOf, pageToken, positionIn, type TokenPage } from "../domain/page-token.ts";
import {
  announceAuditEntry,
  type Announcement,
  auditEpoch,
  finishAuditEntry,
  pageOfAuditEntries,
  takeAuditEntries,
  writeAuditEntries,
} from "../storage/audit-entries.ts";
import { auditSettledUntil, pageOfSettledEntries } from "../storage/audit-export.ts";
import { deletedAmong } from "../storage/brand-deletions.ts";
import { queueMail } from "./mail.ts";

/** Returns what writes the entry of a call, and mail about it, in the transaction of its change. */
export const recordOf = (deps: Pick<AccountsDependencies, "clock" | "sendsMail">, call: CallContext): RecordChange =>
  recorderOf(call, async (sql, entry) => {
    await writeAuditEntries(sql, [entry]);
    await queueMail(deps, sql, [{ ...entry, created_at: new Date(deps.clock.now()).toISOString() }]);
  });

/** Accounts' own part of the log. */
export const auditSink = (db: Database): AuditSink => ({
  async refused(entry, { kind }) {
    if (entry.brand_id !== undefined) await writeAuditEntries(db, [refusedEntry(entry, entry.brand_id, kind)]);
  },
  changed() {},
});

export interface Refusal {
  /** The kind of the error. */
  readonly kind: string;
  /** Refusals of one key, kind and day are counted in one entry. */
  readonly key: string;
}

/** Writes what was done to a person, or refused, into the audit log of each of these brands. */
export function recordForBrands(
  sql: Sql,
  brands: readonly { readonly brand_id: string }[],
  entry: PlannedEntry,
  refusal?: Refusal,
): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const written = brands.map(({ brand_id }): NewAuditEntry => ({
    ...entry,
    id: refusal === undefined ? nextEntryId() : countingId([brand_id, day, refusal.kind, refusal.key]),
    brand_id,
    subject_id: entry.subject_id ?? null,
    outcome: refusal === undefined ? "done" : "failed",
    error_kind: refusal?.kind ?? null,
  }));
  return writeAuditEntries(sql, written);
}

/** Logs that a refusal is not in the audit log: it stands all the same. */
export const notRecorded =
  (log: Logger, { action }: PlannedEntry) =>
  (err: unknown): void =>
    log.warn({ err, action }, "refusal not recorded");

/** Writes entries that another service has made, and mail about them and about its notices. Returns the epoch of this audit log. */
export function recordAudit(deps: Pick<AccountsDependencies, "db" | "sendsMail">, entries: readonly SentAuditEntry[]): Promise<string> {
  return deps.db.transaction(async (sql) => {
    // Of a deleted brand one entry stays.
    const gone = new Set(
      await deletedAmong(
        sql,
        entries.map(({ brand_id }) => brand_id),
      ),
    );
    const kept = entries.filter(({ brand_id }) => !gone.has(brand_id));
    await takeAuditEntries(
      sql,
      kept.filter(({ action }) => !isNotice(action)),
    );
    await queueMail(deps, sql, kept);
    return auditEpoch(sql);
  });
}

/**
 * Writes what a console or brandctl of 1.0 is about to do: a process of 1.0, which records nothing, may do it. Returns undefined where
 * nothing is announced, such as later than a day after the update.
 *
 * @param role of the person who acts, undefined for the operator
 * @throws AppError `not_found` if the brand was deleted
 */
export async function appendAudit(
  sql: Sql,
  announced: Announcement,
  role: "owner" | "member" | undefined,
): Promise<AuditEntry | undefined> {
  if ((await deletedAmong(sql, [announced.brand_id])).length > 0) throw brandDeleted();
  return mayAnnounce(announced.action, role) ? announceAuditEntry(sql, nextEntryId(), announced) : undefined;
}

/** Adds the outcome of what was announced. */
export const finishAudit = finishAuditEntry;

export type { Announcement };

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (aud_[0-9a-z]{1,40})$/;

/** @throws AppError `invalid_cursor` */
export async function listAudit(sql: Sql, filter: AuditFilter, limit: number, token: string | null): Promise<TokenPage<AuditEntry>> {
  const scope = scopeOf(filter);
  const found = await pageOfAuditEntries(sql, filter, positionIn(scope, token, POSITION), limit + 1);
  return pageOf(found, limit, scope, ({ created_at, id }) => [created_at, id]);
}

/** 5,000 entries with all that one may hold are 15 MB. As JSON an entry is larger than in the message. */
const PAGE_BYTES_MAX = MESSAGE_BYTES_MAX / 2;

/**
 * Returns a page of all brands' entries, in ascending order of the time of their last change and id. No entry appears later at or before the
 * last one returned.
 *
 * @throws AppError `invalid_cursor`
 */
export async function exportAudit(
  sql: Sql,
  since: string | null,
  limit: number,
  token: string | null,
  settledAfterSeconds = SETTLED_AFTER_SECONDS,
): Promise<ExportAuditResponse> {
  // Differs from that of a list, so that a token of a list is refused.
  const scope = ["export", since];
  // No id is empty.
  const [changedAt = since ?? "-infinity", id = ""] = positionIn(scope, token, POSITION, "export");
  // First the time, then the page: what ends between the two statements is in the page.
  const settled_until = await auditSettledUntil(sql, settledAfterSeconds);
  const found = await pageOfSettledEntries(sql, { changedAt, id }, settled_until, limit + 1);
  const entries = fittingOf(found.slice(0, limit));
  const last = entries.at(-1);
  return {
    entries,
    next_page_token: last === undefined ? token : pageToken(scope, [last.finished_at ?? last.created_at, last.id]),
    end_reached: entries.length === found.length,
    settled_until,
  };
}

/** Returns the first entries, as many as fit into a message. */
function fittingOf(entries: AuditEntry[]): AuditEntry[] {
  let bytes = 0;
  const fitting: AuditEntry[] = [];
  for (const entry of entries) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > PAGE_BYTES_MAX) break;
    fitting.push(entry);
  }
  return fitting;
}
