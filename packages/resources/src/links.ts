import { z } from "zod";
import { common, count, creatorId, id, nullable, text, time, webUrl, oneOf, EXAMPLE } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const links = defineResource({
  name: "links",
  title: "Link",
  description: "A creator's tracked link into the brand's shop.",
  summary: "List creators' tracked links, newest first.",
  guide:
    "Creators' tracked links into the brand's shop, with their clicks and conversions (orders less reversed ones) so far. Read it to compare links or creators, or to see which are active; a creator_id may have several: add them up. Single orders, and what they were worth, are in conversions.",
  unrecorded: "earlier clicks",
  schema: z.strictObject({
    ...common("lnk"),
    campaign_id: id("cmp"),
    creator_id: creatorId(),
    status: oneOf("active", "paused", "disabled", "expired"),
    code: text(64).describe("The short code within the URL."),
    url: webUrl().describe("What the creator shares."),
    destination_url: webUrl().describe("Where it leads."),
    clicks: count().describe("So far."),
    conversions: count().describe("Orders so far, less reversed ones."),
    expires_at: nullable(time()),
  }),
  values: "clicks, conversions: so far.",
  typicalFields: ["creator_id", "clicks", "conversions"],
  tokens: { whole: 181, typical: 54 },
  filters: ["id", "campaign_id", "creator_id", "status", "created_from", "created_before"],
  example: {
    id: EXAMPLE.link_id,
    ...EXAMPLE.first,
    creator_id: EXAMPLE.creator_id,
    status: "active",
    code: "ate-pinay",
    url: "https://go.example/ate-pinay",
    destination_url: "https://shop.example/products/papaya-enzyme-cleanser?utm_source=creator",
    clicks: 1_284,
    conversions: 37,
    expires_at: null,
  },
});
