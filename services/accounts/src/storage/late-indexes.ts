import type { LateIndex } from "@brand-records/postgres";
import { CHANGED_AT } from "./audit-export.ts";

const of = (table: "audit_entries" | "keys", column: string): LateIndex => ({
  name: `${table}_${column}`,
  table: `accounts.${table}`,
  definition: `(${column}) where ${column} is not null`,
});

/** Indexes for what operators export and erase. A migration would stop all writes to the audit log meanwhile. */
export const LATE_INDEXES: readonly LateIndex[] = [
  of("audit_entries", "actor"),
  of("audit_entries", "subject_id"),
  of("audit_entries", "via"),
  of("keys", "created_by"),
  of("keys", "revoked_by"),
  { name: "audit_entries_changed", table: "accounts.audit_entries", definition: `((${CHANGED_AT}), id)` },
];
