import { EVENT_TYPES, type EventMessage, type EventType } from "@brand-records/brand-events";

/**
 * Returns the data of a test delivery, as an event of this type has it. Its ids belong to no record: looking one up finds
 * nothing.
 *
 * @param now RFC 3339
 */
export function sampleData(type: EventType, now: string): EventMessage["data"] {
  switch (EVENT_TYPES[type]) {
    case "submissions":
      return type === "submission.rejected"
        ? { ...submission, status: "rejected", earned_centavos: 0, rejection_code: "off_brief", reviewed_at: now }
        : { ...submission, status: "approved", earned_centavos: 150_000, rejection_code: null, reviewed_at: now };
    case "payouts":
      return { ...payout, paid_at: now };
    case "campaigns":
      return { ...campaign, settled_at: now };
  }
}

const submission = {
  resource: "submissions",
  id: "sub_test",
  campaign_id: "cmp_test",
  previous_status: "pending",
  currency: "PHP",
} as const;

const payout = {
  resource: "payouts",
  id: "po_test",
  campaign_id: "cmp_test",
  status: "paid",
  previous_status: "processing",
  amount_centavos: 450_000,
  fee_centavos: 4_500,
  submission_count: 3,
  conversion_count: 0,
  currency: "PHP",
} as const;

const campaign = {
  resource: "campaigns",
  id: "cmp_test",
  campaign_id: "cmp_test",
  type: "ugc",
  status: "settled",
  previous_status: "ended",
  budget_centavos: 5_000_000,
  committed_centavos: 4_500_000,
  paid_centavos: 4_500_000,
  currency: "PHP",
} as const;
