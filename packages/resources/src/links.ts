import { z } from "zod";
import { common, count, creatorId, id, nullable, text, time, webUrl, oneOf } from "./fields.ts";
import { defineResource } from "./resource.ts";

export const links = defineResource({
  name: "links",
  title: "Link",
  description: "A creator's tracked link into the brand's shop.",
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
});
