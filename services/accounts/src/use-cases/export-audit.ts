import type { Sql } from "@brand-records/postgres";
import { MESSAGE_BYTES_MAX } from "@brand-records/rpc";
import type { AuditEntry } from "../domain/audit-entry.ts";
import { auditExportPositionOf, auditExportToken, exportPositionOf, type AuditExportPosition } from "../domain/audit-export.ts";
import { SETTLED_AFTER_SECONDS } from "../domain/brand.ts";
import { auditSettledUntil, pageOfSettledEntries } from "../storage/audit-export.ts";

/** 5,000 entries with all that one may hold are 15 MB. As JSON an entry is larger than in the message. */
const PAGE_BYTES_MAX = MESSAGE_BYTES_MAX / 2;

export interface AuditExportPage {
  readonly entries: AuditEntry[];
  readonly next_page_token: string | null;
  readonly end_reached: boolean;
  readonly settled_until: string;
}

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
): Promise<AuditExportPage> {
  const position = token === null ? beginningAt(since) : auditExportPositionOf(since, token);
  // First the time, then the page: what ends between the two statements is in the page.
  const settled_until = await auditSettledUntil(sql, settledAfterSeconds);
  const found = await pageOfSettledEntries(sql, position, settled_until, limit + 1);
  const entries = fittingOf(found.slice(0, limit));
  const last = entries.at(-1);
  return {
    entries,
    next_page_token: last === undefined ? token : auditExportToken(since, exportPositionOf(last)),
    end_reached: entries.length === found.length,
    settled_until,
  };
}

/** No id is empty. */
const beginningAt = (since: string | null): AuditExportPosition => ({ changedAt: since ?? "-infinity", id: "" });

/** Returns the first entries, as many as fit into a message. */
function fittingOf(entries: AuditEntry[]): AuditEntry[] {
  let bytes = 0;
  const tooMany = entries.findIndex((entry) => (bytes += Buffer.byteLength(JSON.stringify(entry))) > PAGE_BYTES_MAX);
  return tooMany === -1 ? entries : entries.slice(0, tooMany);
}
