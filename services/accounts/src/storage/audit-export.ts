import { onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { AuditEntry } from "../domain/audit-entry.ts";
import { AUDIT_ENTRY_COLUMNS } from "./audit-entries.ts";

/** SQL of the time at which an entry was last changed. An index has this expression; another one would read the whole table. */
export const CHANGED_AT = "coalesce(finished_at, created_at)";

const statements = statementsOf("audit_export", {
  // Rounded down, as the columns round to the nearest millisecond.
  settledUntil: `select date_trunc('milliseconds', least(clock_timestamp() - make_interval(secs => $1), min(xact_start))) as settled_until
             from pg_stat_activity
            where datname = current_database() and application_name = current_setting('application_name') and pid <> pg_backend_pid()`,
  page: `select ${AUDIT_ENTRY_COLUMNS} from accounts.audit_entries
            where (${CHANGED_AT}, id) > ($1::timestamptz, $2) and ${CHANGED_AT} < $3
            order by ${CHANGED_AT}, id limit $4`,
});

/**
 * Returns a time, at least `seconds` ago, before which the audit log is settled: a statement that begins after this call sees every change that has an earlier time,
 * and no later change will have one.
 *
 * Changes have the time at which their transaction began, or a later one, and become visible at its commit. No statement lasts longer than
 * 10 s, but a transaction that waits for several locks may: so the oldest one in progress of accounts' processes counts as well.
 * Their pools have the name of this connection; a dump or the build of an index has another, and holds up nothing. Postgres hides the
 * transactions of another login, as during the rotation of a password: for those, `seconds` must be enough.
 */
export async function auditSettledUntil(sql: Sql, seconds: number): Promise<string> {
  return (await onlyOf(sql.query<{ settled_until: string }>(statements.settledUntil, [seconds]))).settled_until;
}

/** Returns entries of all brands after a position that were last changed before `until`, in ascending order of that time and of id. */
export const pageOfSettledEntries = (
  sql: Sql,
  { changedAt, id }: { readonly changedAt: string; readonly id: string },
  until: string,
  limit: number,
): Promise<AuditEntry[]> => sql.query<AuditEntry>(statements.page, [changedAt, id, until, limit]);
