import { z } from "zod";
import { centavos, common, creatorId, currency, id, nullable, text, time, oneOf } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const conversions = defineResource({
  name: "conversions",
  title: "Conversion",
  description: "An order that came through a creator's tracked link, and the commission on it.",
  schema: z.strictObject({
    ...common("cnv"),
    campaign_id: id("cmp"),
    link_id: id("lnk"),
    creator_id: creatorId(),
    payout_id: nullable(id("po")).describe("The payout that pays the commission, once there is one."),
    status: oneOf("pending", "approved", "reversed"),
    external_id: text(200).describe("The brand's own order number."),
    order_amount_centavos: centavos(),
    commission_centavos: centavos(),
    currency: currency(),
    occurred_at: time().describe("When the order was placed."),
    reversal_code: nullable(oneOf("returned", "fraud", "duplicate", "order_error")).describe("Why it was reversed."),
  }),
});
