import { z } from "zod";
import { centavos, common, creatorId, currency, id, nullable, time, oneOf } from "./fields.ts";
import { defineResource } from "./resource.ts";

const items = () => z.int("must be a whole number").min(0, "must not be negative").max(2_147_483_647, "must be at most 2147483647");

export const payouts = defineResource({
  name: "payouts",
  title: "Payout",
  description: "Money on its way, or arrived, at one creator for one campaign.",
  schema: z.strictObject({
    ...common("po"),
    campaign_id: id("cmp"),
    creator_id: creatorId(),
    status: oneOf("pending", "processing", "paid", "failed", "cancelled", "reversed"),
    amount_centavos: centavos().describe("What the creator gets."),
    fee_centavos: centavos().describe("What the platform charges on top."),
    currency: currency(),
    submission_count: items().describe("Submissions it pays for."),
    conversion_count: items().describe("Conversions it pays for."),
    failure_code: nullable(oneOf("account_invalid", "rail_unavailable", "compliance", "other")).describe("Why it failed."),
    initiated_at: nullable(time()),
    paid_at: nullable(time()),
  }),
});
