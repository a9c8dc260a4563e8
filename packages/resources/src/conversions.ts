import { z } from "zod";
import { centavos, common, creatorId, currency, id, nullable, text, time, oneOf, EXAMPLE } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const conversions = defineResource({
  name: "conversions",
  title: "Conversion",
  description: "An order that came through a creator's tracked link, and the commission on it.",
  summary: "List orders that came through tracked links, newest first.",
  guide:
    "Orders through creators' tracked links, with their commission. Read it for sales, commission, reversals by campaign, link, creator. They start pending, and are approved or reversed weeks later: show both apart. occurred_at, when placed, comes before created_at: for a period end a day later and compare. Often the largest list: orders in links add up to about its length.",
  unrecorded: "when one was approved or reversed, buyers",
  schema: z.strictObject({
    ...common("cnv"),
    campaign_id: id("cmp"),
    link_id: id("lnk"),
    creator_id: creatorId(),
    payout_id: nullable(id("po")).describe(
      "The payout with the commission, which may still fail: its status says whether it is paid. Null until there is one.",
    ),
    status: oneOf("pending", "approved", "reversed"),
    external_id: text(200).describe("The brand's own order number."),
    order_amount_centavos: centavos(),
    commission_centavos: centavos(),
    currency: currency(),
    occurred_at: time().describe("When the order was placed."),
    reversal_code: nullable(oneOf("returned", "fraud", "duplicate", "order_error")).describe("Why it was reversed."),
  }),
  values: "payout_id: null until then; its payout may still fail.",
  typicalFields: ["status", "order_amount_centavos", "commission_centavos"],
  tokens: { whole: 205, typical: 42 },
  filters: ["id", "campaign_id", "link_id", "external_id", "status", "created_from", "created_before"],
  example: {
    id: "cnv_01kak9t2b3c4d5e6f7g8h9j0k1",
    ...EXAMPLE.first,
    link_id: EXAMPLE.link_id,
    creator_id: EXAMPLE.creator_id,
    payout_id: null,
    status: "pending",
    external_id: "ORDER-10294",
    order_amount_centavos: 189_900,
    commission_centavos: 18_990,
    currency: "PHP",
    occurred_at: "2026-11-20T08:29:12.000Z",
    reversal_code: null,
  },
});
