import { hash } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { idSequence } from "@brand-records/ids";
import type { Sql } from "@brand-records/postgres";
import type { ExportAuditResponse } from "@brand-records/proto/accounts/v1";
import { MESSAGE_BYTES_MAX } from "@brand-records/rpc";
import { type AuditEntry, type AuditFilter, scopeOf } from "../domain/audit-entry.ts";
import { brandDeleted, DELETION, SETTLED_AFTER_SECONDS } from "../domain/brand.ts";
import { pageOf, pageToken, positionIn, type TokenPage } from "../domain/page-token.ts";
import {
  type AuditEntryKey,
  type AuditResult,
  finishAuditEntry,
  insertAuditEntry,
  insertEndedAuditEntries,
  type NewAuditEntry,
  pageOfAuditEntries,
} from "../storage/audit-entries.ts";
import { auditSettledUntil, pageOfSettledEntries } from "../storage/audit-export.ts";
import { deletedAmong } from "../storage/brand-deletions.ts";

/** In the order of their making: the log sorts entries of one millisecond by their ids. */
const nextEntryId = idSequence("aud");

/** Writes an entry about a change that is about to be made. @throws AppError `not_found` if the brand was deleted; `invalid_request` */
export async function appendAudit(sql: Sql, entry: Omit<NewAuditEntry, "id">): Promise<AuditEntry> {
  // It stands for a deleted brand, so only the deletion writes it.
  if (entry.action === DELETION) throw new AppError("invalid_request", `${DELETION} is written by accounts`, { field: "action" });
  if ((await deletedAmong(sql, [entry.brand_id])).length > 0) throw brandDeleted();
  return insertAuditEntry(sql, { id: nextEntryId(), ...entry });
}

/** Changes of the operator, and those whose entries accounts writes itself. */
const NOT_OF_CALLERS: ReadonlySet<string> = new Set(["brand", "identity", "person", "session", "sign_in_link"]);
const OF_OWNERS: ReadonlySet<string> = new Set(["member.add", "member.set_role", "member.remove"]);

/**
 * Checks that a member may make the change that an entry is about: a restore reads the log, and takes away what it says has ended.
 *
 * @throws AppError `invalid_request`, `owner_required`
 */
export function requireOwnAction(action: string, role: string | undefined): void {
  const [kind = ""] = action.split(".");
  if (NOT_OF_CALLERS.has(kind)) throw new AppError("invalid_request", `${action} is not written for a member`, { field: "action" });
  if ((kind === "key" || OF_OWNERS.has(action)) && role !== "owner") throw new AppError("owner_required", `Only an owner does ${action}`);
}

/** What accounts itself writes into the audit log, in the transaction of the change. */
export interface EndedEntry {
  readonly action: string;
  /** The person's address, or what has taken its place. */
  readonly subject: string;
  readonly requestId: string;
  /** Default: the operator. */
  readonly actor?: string | null;
  /** The owner whose link opened the actor's session. */
  readonly via?: string | null;
  /** Where the actor is. */
  readonly client?: CallClient;
  /** Default: it was done. */
  readonly refusal?: Refusal;
}

/** Where a person's call comes from. */
export interface CallClient {
  /** IP address. */
  readonly address: string | null;
  /** The browser's family. */
  readonly browser: string | null;
}

export interface Refusal {
  /** The kind of the error. */
  readonly kind: string;
  /** Refusals of one key, kind, stay and day are counted in one entry. */
  readonly key: string;
}

/** A brand whose audit log gets an entry. */
export interface EntryBrand {
  readonly brand_id: string;
  /** When the person's stay in the brand began: what another stay's refusals are counted in may be erased, and stays as it is. */
  readonly since?: string;
}

/** Writes what was done to a person, or refused, into the audit log of each of these brands. */
export function recordForBrands(
  sql: Sql,
  brands: readonly EntryBrand[],
  { action, subject, requestId, actor = null, via = null, client, refusal }: EndedEntry,
): Promise<void> {
  const entry = {
    action,
    actor,
    subject_id: subject,
    request_id: requestId,
    address: client?.address ?? null,
    browser: client?.browser ?? null,
    via,
    outcome: refusal === undefined ? ("done" as const) : ("failed" as const),
    error_kind: refusal?.kind ?? null,
  };
  const day = new Date().toISOString().slice(0, 10);
  const rows = brands.map((brand) => ({
    brand_id: brand.brand_id,
    id: refusal === undefined ? nextEntryId() : countingId(brand, refusal, day),
  }));
  return insertEndedAuditEntries(sql, entry, rows);
}

/**
 * The same for each refusal of one key and kind in one stay and on one day (UTC): the log shows today's among today's entries. As long as
 * other ids, with 104 bits of the hash.
 */
const countingId = ({ brand_id, since }: EntryBrand, { kind, key }: Refusal, day: string): string =>
  `aud_${hash("sha256", [brand_id, since ?? "", day, kind, key].join(" ")).slice(0, 26)}`;

/** Adds the outcome, once. @throws AppError `not_found` */
export async function finishAudit(sql: Sql, key: AuditEntryKey, result: AuditResult): Promise<AuditEntry> {
  const entry = await finishAuditEntry(sql, key, result);
  if (entry === undefined) throw new AppError("not_found", "There is no audit entry with this id", { field: "entry_id" });
  return entry;
}

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
