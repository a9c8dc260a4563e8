import { z } from "zod";
import { centavos, common, currency, id, nullable, text, time, oneOf } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const deposits = defineResource({
  name: "deposits",
  title: "Deposit",
  description: "Money the brand paid in, for one campaign or for its balance.",
  schema: z.strictObject({
    ...common("dep"),
    campaign_id: nullable(id("cmp")).describe("The campaign it funds; null when it went to the brand's balance."),
    status: oneOf("pending", "succeeded", "failed", "expired", "refunded"),
    amount_centavos: centavos().describe("What was to be paid in; it counts once status is succeeded."),
    refunded_centavos: centavos().describe("What of it went back to the brand."),
    currency: currency(),
    method: oneOf("gcash", "maya", "qrph", "card", "bank_transfer"),
    reference: nullable(text(200)).describe("The payment provider's reference."),
    credited_at: nullable(time()),
  }),
});
