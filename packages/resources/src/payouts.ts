import { z } from "zod";
import { centavos, common, creatorId, currency, id, nullable, time, oneOf, EXAMPLE } from "./fields.ts";
import { defineResource } from "./resource.ts";

const count = () => z.int("must be a whole number").min(0, "must not be negative").max(2_147_483_647, "must be at most 2147483647");

export const payouts = defineResource({
  name: "payouts",
  title: "Payout",
  description: "Money that is on its way to one creator, or has arrived, for one campaign.",
  summary: "List payouts to creators, newest first.",
  guide:
    "Money to one creator for one campaign. Read it for what was paid, is under way (pending, processing), or failed and why. reversed was paid, at paid_at, and came back: show it apart. Payment follows within days: for a period begin a week earlier and compare paid_at. The creator gets amount_centavos; fee_centavos comes on top.",
  unrecorded: "when one failed or came back, if it is sent again, if a failed or cancelled one's fee is due",
  schema: z.strictObject({
    ...common("po"),
    campaign_id: id("cmp"),
    creator_id: creatorId(),
    status: oneOf("pending", "processing", "paid", "failed", "cancelled", "reversed"),
    amount_centavos: centavos().describe("What the creator gets."),
    fee_centavos: centavos().describe("What the platform charges on top."),
    currency: currency(),
    submission_count: count().describe("Submissions it pays for."),
    conversion_count: count().describe("Conversions it pays for."),
    failure_code: nullable(oneOf("account_invalid", "rail_unavailable", "compliance", "other")).describe("Why it failed."),
    initiated_at: nullable(time()),
    paid_at: nullable(time()),
  }),
  values: "paid_at: null until paid.",
  typicalFields: ["status", "amount_centavos", "paid_at"],
  tokens: { whole: 177, typical: 51 },
  filters: ["id", "campaign_id", "creator_id", "status", "created_from", "created_before"],
  example: {
    id: EXAMPLE.payout_id,
    ...EXAMPLE.first,
    creator_id: EXAMPLE.creator_id,
    status: "paid",
    amount_centavos: 241_000,
    fee_centavos: 2_410,
    currency: "PHP",
    submission_count: 1,
    conversion_count: 0,
    failure_code: null,
    initiated_at: "2026-11-20T08:31:00.000Z",
    paid_at: "2026-11-21T02:15:09.412Z",
  },
});
