import { hash } from "node:crypto";
import { idSequence } from "@brand-records/ids";
import type { Sql } from "@brand-records/postgres";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import type { CallContext, PlannedEntry } from "@brand-records/rpc";

/** An entry of the audit log as the service that makes the change writes it: the database adds times and counts. */
export type NewAuditEntry = Pick<PlannedEntry, "action" | "actor" | "via" | "fields" | "role" | "request_id" | "address" | "browser"> & {
  readonly id: string;
  readonly brand_id: string;
  readonly subject_id: string | null;
  readonly outcome: "done" | "failed";
  readonly error_kind: string | null;
};

/** What only the change itself knows: the id of what was created, and the brand where the request names none. */
interface Made {
  readonly subject?: string;
  readonly brandId?: string;
}

/** Writes the entry of a call's change. Belongs into the transaction that makes the change, and only if it makes one. */
export type RecordChange = (sql: Sql, made?: Made) => Promise<void>;

/** What happens without a person, and owners get mail of: a receiver is paused for an hour, works again, is disabled by the service; a plan waits. */
export type NoticeAction = `notice.${"receiver_paused" | "receiver_works" | "receiver_gone" | "receiver_failing" | "plan_prepared"}`;

/** In the order of their making: the log sorts entries of one millisecond by their ids. */
export const nextEntryId = idSequence("aud");

/** @throws Error in a call of a method whose proto says nothing of an entry */
export function recorderOf({ entry }: CallContext, write: (sql: Sql, entry: NewAuditEntry) => Promise<void>): RecordChange {
  return async (sql, { subject, brandId } = {}) => {
    if (entry === undefined) throw new Error("a method that changes something has no entry in its proto");
    const brand_id = entry.brand_id ?? brandId;
    if (brand_id === undefined) throw new Error(`nothing names the brand of ${entry.action}`);
    const subject_id = subject ?? entry.subject_id ?? null;
    await write(sql, { ...entry, id: nextEntryId(), brand_id, subject_id, outcome: "done", error_kind: null });
  };
}

/**
 * The entry of a person's change that was refused. Refusals of one person, action and kind on one day (UTC) have the same id and are
 * counted in one entry, so that no one fills the log; as long as other ids, with 104 bits of the hash.
 */
export function refusedEntry(entry: PlannedEntry, brand_id: string, error_kind: string): NewAuditEntry {
  const day = new Date().toISOString().slice(0, 10);
  const id = countingId([brand_id, day, error_kind, entry.action, entry.actor ?? ""]);
  return { ...entry, id, brand_id, subject_id: entry.subject_id ?? null, outcome: "failed", error_kind };
}

export const countingId = (counted: readonly string[]): string => `aud_${hash("sha256", counted.join(" ")).slice(0, 26)}`;

/** As accounts gets it from the service that wrote it. */
export type SentAuditEntry = NewAuditEntry & Pick<AuditEntry, "created_at" | "tries">;
