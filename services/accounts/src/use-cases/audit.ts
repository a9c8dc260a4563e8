import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { pageToken, positionOf, type AuditEntry, type AuditFilter } from "../domain/audit-entry.ts";
import { brandDeleted, DELETION } from "../domain/brand.ts";
import type { Membership } from "../domain/membership.ts";
import {
  finishAuditEntry,
  insertAuditEntry,
  pageOfAuditEntries,
  type AuditEntryKey,
  type AuditResult,
  type NewAuditEntry,
} from "../storage/audit-entries.ts";
import { deletedAmong } from "../storage/brand-deletions.ts";

/** Writes an entry about a change that is about to be made. @throws AppError `not_found` if the brand was deleted; `invalid_request` */
export async function appendAudit(sql: Sql, entry: Omit<NewAuditEntry, "id" | "outcome">): Promise<AuditEntry> {
  // It stands for a deleted brand, so only the deletion writes it.
  if (entry.action === DELETION) throw new AppError("invalid_request", `${DELETION} is written by accounts`, { field: "action" });
  if ((await deletedAmong(sql, [entry.brand_id])).length > 0) throw brandDeleted();
  return insertAuditEntry(sql, { id: newId("aud"), outcome: null, ...entry });
}

/** What accounts itself writes into the audit log, in the transaction of the change. */
export interface DoneEntry {
  readonly action: string;
  /** The person's address, or what has taken its place. */
  readonly subject: string;
  readonly requestId: string;
  /** Default: the operator. */
  readonly actor?: string | null;
  /** IP address of the actor. */
  readonly address?: string | null;
}

/** Writes what was done to a person into the audit log of each of these brands. */
export async function recordForBrands(
  sql: Sql,
  brands: readonly Pick<Membership, "brand_id">[],
  { action, subject, requestId, actor = null, address = null }: DoneEntry,
): Promise<void> {
  for (const { brand_id } of brands) {
    await insertAuditEntry(sql, {
      id: newId("aud"),
      brand_id,
      actor,
      action,
      subject_id: subject,
      fields: [],
      request_id: requestId,
      address,
      outcome: "done",
      via: null,
    });
  }
}

/** Adds the outcome, once. @throws AppError `not_found` */
export async function finishAudit(sql: Sql, key: AuditEntryKey, result: AuditResult): Promise<AuditEntry> {
  const entry = await finishAuditEntry(sql, key, result);
  if (entry === undefined) throw new AppError("not_found", "There is no audit entry with this id", { field: "entry_id" });
  return entry;
}

export interface AuditPage {
  readonly entries: AuditEntry[];
  readonly next_page_token: string | null;
}

/** @throws AppError `invalid_cursor` */
export async function listAudit(sql: Sql, filter: AuditFilter, limit: number, token: string | null): Promise<AuditPage> {
  const after = token === null ? undefined : positionOf(filter, token);
  const entries = await pageOfAuditEntries(sql, filter, after, limit + 1);
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const isLastPage = entries.length === page.length || last === undefined;
  return { entries: page, next_page_token: isLastPage ? null : pageToken(filter, { createdAt: last.created_at, id: last.id }) };
}
