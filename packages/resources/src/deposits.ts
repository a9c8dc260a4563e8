import { z } from "zod";
import { centavos, common, currency, id, nullable, text, time, oneOf, EXAMPLE } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const deposits = defineResource({
  name: "deposits",
  title: "Deposit",
  description: "Money the brand paid in, for one campaign or for its balance.",
  summary: "List what the brand paid in, newest first.",
  guide:
    "Money the brand paid in, for a campaign or (campaign_id null) its balance. Read it for funding, failed or refunded payments and their references. Received: the amount of succeeded and refunded ones, from credited_at; kept: that less refunded_centavos, which a succeeded one may have too.",
  unrecorded: "when a refund happened, the balance",
  schema: z.strictObject({
    ...common("dep"),
    campaign_id: nullable(id("cmp")).describe("The campaign it funds; null when it went to the brand's balance."),
    status: oneOf("pending", "succeeded", "failed", "expired", "refunded"),
    amount_centavos: centavos().describe("The amount to be paid in: received once status is succeeded, also if it is refunded later."),
    refunded_centavos: centavos().describe("The part returned to the brand."),
    currency: currency(),
    method: oneOf("gcash", "maya", "qrph", "card", "bank_transfer"),
    reference: nullable(text(200)).describe("The payment provider's reference."),
    credited_at: nullable(time()),
  }),
  values: "credited_at: null until received.",
  typicalFields: ["status", "amount_centavos", "refunded_centavos"],
  tokens: { whole: 137, typical: 42 },
  filters: ["id", "campaign_id", "status", "created_from", "created_before"],
  example: {
    id: "dep_01kac5p3y6f7g8h9j0k1m2n3p4",
    ...EXAMPLE.first,
    status: "succeeded",
    amount_centavos: 25_000_000,
    refunded_centavos: 0,
    currency: "PHP",
    method: "gcash",
    reference: "GC-8841-2210",
    credited_at: "2026-11-20T08:30:41.000Z",
  },
});
