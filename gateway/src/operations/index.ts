import type { ResourceName } from "@brand-records/resources";
import { defineList, type ListOperation } from "./list.ts";

/** Every list operation, by its resource. */
export const LIST_OPERATIONS: Readonly<Record<ResourceName, ListOperation>> = Object.freeze({
  campaigns: defineList("campaigns", "List the brand's campaigns, newest first.", ({ records }, page, context) =>
    records.listCampaigns(page, context),
  ),
  submissions: defineList("submissions", "List the content creators handed in, newest first.", ({ records }, page, context) =>
    records.listSubmissions(page, context),
  ),
  payouts: defineList("payouts", "List payouts to creators, newest first.", ({ records }, page, context) =>
    records.listPayouts(page, context),
  ),
  deposits: defineList("deposits", "List what the brand paid in, newest first.", ({ records }, page, context) =>
    records.listDeposits(page, context),
  ),
  conversions: defineList("conversions", "List orders that came through tracked links, newest first.", ({ records }, page, context) =>
    records.listConversions(page, context),
  ),
  links: defineList("links", "List creators' tracked links, newest first.", ({ records }, page, context) =>
    records.listLinks(page, context),
  ),
});
