import type { RecordsServiceService } from "@brand-records/proto/records/v1";
import type { Callers } from "@brand-records/rpc";

/** Who may call which method, beside the operator, who alone imports and deletes. docs/security.md has the table. */
export const RECORDS_CALLERS: Callers<RecordsServiceService> = {
  listCampaigns: ["gateway"],
  listSubmissions: ["gateway"],
  listPayouts: ["gateway"],
  listDeposits: ["gateway"],
  listConversions: ["gateway"],
  listLinks: ["gateway"],
};
