import type { ResourceName } from "@brand-records/resources";
import { defineList, type ListOperation } from "./list.ts";

/** Every list operation, by its resource. */
export const LIST_OPERATIONS: Readonly<Record<ResourceName, ListOperation>> = Object.freeze({
  campaigns: defineList({
    resource: "campaigns",
    summary: "List the brand's campaigns, newest first.",
    guide:
      "What the brand runs with creators: terms, budget against committed and paid, dates, status. type says how creators are paid: blitz per 1,000 views, ugc and package per accepted piece, affiliate by commission (commission_bps 1000 is 10%). committed_centavos is what creators earned, paid out or not. Read it first when a question names a campaign: its id is the campaign_id of all other records.",
    fetch: ({ records }, page, context) => records.listCampaigns(page, context),
  }),
  submissions: defineList({
    resource: "submissions",
    summary: "List the content creators handed in, newest first.",
    guide:
      "Content that creators handed in, its views and earnings, and what review decided. Read it for what waits for review (status pending), approval rates, reasons of rejection, or how content performs. The money itself is in payouts.",
    fetch: ({ records }, page, context) => records.listSubmissions(page, context),
  }),
  payouts: defineList({
    resource: "payouts",
    summary: "List payouts to creators, newest first.",
    guide:
      "Money on its way, or arrived, at one creator for one campaign. Read it for what was paid, what is under way and what failed and why. amount_centavos is what the creator gets; fee_centavos comes on top. What the brand itself paid in is in deposits.",
    fetch: ({ records }, page, context) => records.listPayouts(page, context),
  }),
  deposits: defineList({
    resource: "deposits",
    summary: "List what the brand paid in, newest first.",
    guide:
      "Money the brand paid in, for a campaign or (campaign_id null) for its balance. Read it for funding, failed or refunded payments and their references. What creators received is in payouts.",
    fetch: ({ records }, page, context) => records.listDeposits(page, context),
  }),
  conversions: defineList({
    resource: "conversions",
    summary: "List orders that came through tracked links, newest first.",
    guide:
      "Orders that came through creators' tracked links, and the commission on each. Read it for sales, commission and reversals by campaign, link or creator. Often the largest list by far: the totals by link, without reversed orders, are in links.",
    fetch: ({ records }, page, context) => records.listConversions(page, context),
  }),
  links: defineList({
    resource: "links",
    summary: "List creators' tracked links, newest first.",
    guide:
      "Creators' tracked links into the brand's shop, with their clicks and conversions (orders less reversed ones) so far. Read it to compare links or creators, or to see which are active. Single orders are in conversions.",
    fetch: ({ records }, page, context) => records.listLinks(page, context),
  }),
});
