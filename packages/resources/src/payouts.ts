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
    "Money that is on its way to one creator, or has arrived, for one campaign. Read it to see what was paid, what is under way, and what failed and why. Under way is pending and processing. reversed was paid, at paid_at, and came back: show it apart from paid. For what was paid in a period, begin a month earlier and compare paid_at. When a payout failed or came back is not recorded, and not whether it is sent again. amount_centavos is what the creator gets; fee_centavos comes on top. Payments by the brand itself are in deposits.",
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
  filters: ["id", "campaign_id", "status", "created_from", "created_before"],
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
