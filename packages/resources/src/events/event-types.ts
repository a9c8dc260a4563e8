import { z } from "zod";
import { centavos, count, id, time } from "./fields.ts";

const common = {
  id: z.string().describe("The record's id."),
  campaign_id: id("cmp", "The campaign it belongs to; of a campaign, its own id."),
  currency: z.literal("PHP").describe("The currency of every *_centavos."),
};
const previous_status = z.string().describe("The status before the change.");
const updated_at = time(
  "The record's updated_at by this change. Of two states of a record, in events and lists, the one with the later updated_at is the later.",
);

// Loose objects: a later release may add fields, which readers of this release pass on.
const submission = z
  .looseObject({
    ...common,
    resource: z.literal("submissions"),
    id: id("sub", "The submission's id."),
    status: z.enum(["approved", "rejected"]),
    previous_status,
    updated_at,
    earned_centavos: centavos("What the creator has earned with it"),
    rejection_code: z.string().nullable().describe("Why it was rejected; null unless it was."),
    reviewed_at: time("When it was reviewed.").nullable(),
  })
  .meta({ id: "SubmissionReviewed", description: "Of submission.approved and submission.rejected." });

const payout = z
  .looseObject({
    ...common,
    resource: z.literal("payouts"),
    id: id("po", "The payout's id."),
    status: z.literal("paid"),
    previous_status,
    updated_at,
    amount_centavos: centavos("The amount paid out"),
    fee_centavos: centavos("The fee for it"),
    submission_count: count("Submissions it pays for."),
    conversion_count: count("Conversions it pays for."),
    paid_at: time("When it was paid.").nullable(),
  })
  .meta({ id: "PayoutPaid", description: "Of payout.paid." });

const campaign = z
  .looseObject({
    ...common,
    resource: z.literal("campaigns"),
    id: id("cmp", "The campaign's id."),
    type: z.enum(["blitz", "ugc", "package", "affiliate"]),
    status: z.literal("settled"),
    previous_status,
    updated_at,
    budget_centavos: centavos("The campaign's budget"),
    committed_centavos: centavos("The part of the budget that was committed"),
    paid_centavos: centavos("The part of the budget that was paid"),
    settled_at: time("When it was settled.").nullable(),
  })
  .meta({ id: "CampaignSettled", description: "Of campaign.settled." });

type DataSchema = typeof submission | typeof payout | typeof campaign;

const campaign_id = "cmp_01kac5j2x4fd8r3c5w0bqv9e1t";

/** Declares what events of a type carry. `example` returns the data of an event that happened at a time (RFC 3339). */
function declare<Data extends DataSchema>(data: Data, summary: string, example: (at: string) => z.input<Data>) {
  const resource: z.output<Data>["resource"] = data.shape.resource.value;
  return { resource, data, summary, example };
}

/** The event types and their declarations. Names are contract: `kind.status`, the status of the data. */
export const EVENT_TYPES = {
  "submission.approved": declare(submission, "A submission was approved.", (at) => ({
    resource: "submissions",
    id: "sub_01kak2r7w5e8a9b0c1d2e3f4g5",
    campaign_id,
    status: "approved",
    previous_status: "pending",
    updated_at: at,
    earned_centavos: 241_000,
    currency: "PHP",
    rejection_code: null,
    reviewed_at: at,
  })),
  "submission.rejected": declare(submission, "A submission was rejected.", (at) => ({
    resource: "submissions",
    id: "sub_01kak2r7w5e8a9b0c1d2e3f4g5",
    campaign_id,
    status: "rejected",
    previous_status: "pending",
    updated_at: at,
    earned_centavos: 0,
    currency: "PHP",
    rejection_code: "off_brief",
    reviewed_at: at,
  })),
  "payout.paid": declare(payout, "A payout was paid.", (at) => ({
    resource: "payouts",
    id: "po_01kakdm9s0e4vb2n6p3q8r7t5w",
    campaign_id,
    status: "paid",
    previous_status: "processing",
    updated_at: at,
    amount_centavos: 241_000,
    fee_centavos: 2_410,
    currency: "PHP",
    submission_count: 1,
    conversion_count: 0,
    paid_at: at,
  })),
  "campaign.settled": declare(campaign, "A campaign was settled.", (at) => ({
    resource: "campaigns",
    id: campaign_id,
    campaign_id,
    type: "blitz",
    status: "settled",
    previous_status: "ended",
    updated_at: at,
    budget_centavos: 25_000_000,
    committed_centavos: 24_310_000,
    paid_centavos: 24_310_000,
    currency: "PHP",
    settled_at: at,
  })),
} as const;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]];

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text);
}
