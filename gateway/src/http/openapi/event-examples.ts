import type { EventMessage, EventType } from "@brand-records/brand-events";
import { RESOURCES } from "@brand-records/resources";

const id = "01m7e9rkgsf6p8ke7n67az5qq0";
const campaign_id = RESOURCES.campaigns.example.id;
const submission = { resource: "submissions", id: RESOURCES.submissions.example.id, campaign_id } as const;

const DATA: Readonly<Record<EventType, EventMessage["data"]>> = {
  "submission.approved": {
    ...submission,
    status: "approved",
    previous_status: "pending",
    earned_centavos: 241_000,
    currency: "PHP",
    rejection_code: null,
    reviewed_at: "2026-11-21T02:15:09.412Z",
  },
  "submission.rejected": {
    ...submission,
    status: "rejected",
    previous_status: "pending",
    earned_centavos: 0,
    currency: "PHP",
    rejection_code: "off_brief",
    reviewed_at: "2026-11-21T02:15:09.412Z",
  },
  "payout.paid": {
    resource: "payouts",
    id: RESOURCES.payouts.example.id,
    campaign_id,
    status: "paid",
    previous_status: "processing",
    amount_centavos: 241_000,
    fee_centavos: 2_410,
    currency: "PHP",
    submission_count: 1,
    conversion_count: 0,
    paid_at: "2026-11-21T02:15:09.412Z",
  },
  "campaign.settled": {
    resource: "campaigns",
    id: campaign_id,
    campaign_id,
    type: "blitz",
    status: "settled",
    previous_status: "ended",
    budget_centavos: 25_000_000,
    committed_centavos: 24_310_000,
    paid_centavos: 24_310_000,
    currency: "PHP",
    settled_at: "2026-11-21T02:15:09.412Z",
  },
};

/** The event as a receiver gets it. docs/webhooks.md shows the same. */
export function eventExample(type: EventType): EventMessage & { readonly test: boolean; readonly dashboard_url: string } {
  return {
    id: `evt_${id}`,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_01k1sem520ecxthczqg3ryfxme",
    test: false,
    dashboard_url: `https://records.example/developers/events/evt_${id}`,
    data: DATA[type],
  };
}
