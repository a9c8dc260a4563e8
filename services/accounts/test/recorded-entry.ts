import { nextEntryId, type SentAuditEntry } from "@brand-records/service-runtime";
import type { ServedAccounts, TestBrand } from "./serve-accounts.ts";

/** An entry as plans and webhook hand it over: by default of the brand's owner, just made. */
export const recordedEntry = ({ id, owner }: TestBrand, given: Partial<SentAuditEntry> = {}): SentAuditEntry => ({
  id: nextEntryId(),
  brand_id: id,
  actor: owner,
  via: null,
  action: "receiver.create",
  subject_id: null,
  fields: [],
  role: null,
  request_id: "req-1",
  address: null,
  browser: null,
  outcome: "done",
  error_kind: null,
  tries: 1,
  created_at: new Date().toISOString(),
  ...given,
});

/** Writes an entry as plans and webhook do. Returns its id. */
export async function record(served: ServedAccounts, brand: TestBrand, given: Partial<SentAuditEntry> = {}): Promise<string> {
  const entry = recordedEntry(brand, given);
  await served.audit.recordAudit({ entries: [entry] });
  return entry.id;
}
