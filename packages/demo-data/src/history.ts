import { payableConversions, payableSubmissions, planConversions, planSubmissions } from "./items.ts";
import { planPayouts } from "./payouts.ts";
import { type Campaign, type Context, planCampaigns, planCreators, planLinks, settle } from "./plans.ts";
import { Random } from "./random.ts";
import { conversionRecords, DEPOSIT_STEP, depositAt, isFunded, submissionRecords } from "./records.ts";

/** Share of payouts built on submissions, if there are enough items of both kinds. */
const SUBMISSIONS_SHARE = 0.6;

export type History = ReturnType<typeof planHistory>;

/** What the records of a brand have in common. Its size grows with campaigns, links, creators and payouts only. */
export function planHistory(context: Context) {
  const pickCreator = planCreators(context);
  const campaigns = planCampaigns(context);
  const links = planLinks(context, campaigns, pickCreator);
  const count = context.sizes.payouts;
  const submissionsMax = payableSubmissions(context, campaigns);
  const payable = payableConversions(context);
  const forConversions = Math.min(payable, count - Math.min(submissionsMax, Math.round(count * SUBMISSIONS_SHARE)));
  const forSubmissions = Math.min(submissionsMax, count - forConversions);
  const submissions = planSubmissions(context, campaigns, { pickCreator, payouts: forSubmissions });
  const conversions = planConversions(context, links, { payable, payouts: forConversions });
  const payouts = planPayouts(context, { campaigns, links, pickCreator, submissions, conversions });
  for (const campaign of payouts.settled) settle(campaign, context);
  return { campaigns: campaigns.all, links, submissions, conversions, payouts };
}

/** Reads every submission, conversion and deposit once, and sets the sums of campaigns, links and payouts. */
export function addUp(context: Context, history: History): History {
  addItems(context, history);
  for (const { record, campaign } of history.payouts.all) {
    record.fee_centavos = feeOn(record.amount_centavos);
    if (record.status === "paid") campaign.record.paid_centavos += record.amount_centavos;
  }
  const funded = history.campaigns.filter(isFunded);
  for (let index = 0; index < context.sizes.deposits; index += 1) {
    const { campaign, status } = depositAt(index, context, funded);
    if (campaign !== null && status === "succeeded") campaign.deposits += 1;
  }
  for (const [index, campaign] of history.campaigns.entries()) campaign.record.budget_centavos = budgetOf(campaign, index, context);
  return history;
}

/** PHP 15 a transfer, plus 1.5% from PHP 1,000. */
const feeOn = (amount: number): number => 1_500 + (amount < 100_000 ? 0 : Math.round(amount * 0.015));

function addItems(context: Context, history: History): void {
  const campaigns = byId(history.campaigns);
  const links = byId(history.links);
  const payouts = byId(history.payouts.all);
  for (const { status, campaign_id, payout_id, earned_centavos } of submissionRecords(context, history)) {
    const [campaign, payout] = [campaigns.get(campaign_id), payouts.get(payout_id)];
    if (status === "approved" && campaign !== undefined) campaign.committed_centavos += earned_centavos;
    if (payout === undefined) continue;
    payout.amount_centavos += earned_centavos;
    payout.submission_count += 1;
  }
  const orders = new Map<string, number>();
  for (const { status, created_at, campaign_id, link_id, payout_id, commission_centavos } of conversionRecords(context, history)) {
    const [campaign, link, payout] = [campaigns.get(campaign_id), links.get(link_id), payouts.get(payout_id)];
    if (campaign === undefined || link === undefined) continue;
    orders.set(link_id, (orders.get(link_id) ?? 0) + 1);
    if (created_at > link.updated_at) link.updated_at = created_at;
    if (status !== "reversed") link.conversions += 1;
    if (status === "approved") campaign.committed_centavos += commission_centavos;
    if (payout === undefined) continue;
    payout.amount_centavos += commission_centavos;
    payout.conversion_count += 1;
  }
  for (const [index, { record }] of history.links.entries()) {
    const random = new Random(context.stream("clicks"), index);
    // One click in 20 to 90 becomes an order; many links have clicks and no orders.
    record.clicks = Math.floor(((orders.get(record.id) ?? 0) + random.unit()) * random.between(20, 90));
  }
}

function byId<T extends { readonly id: string }>(plans: readonly { readonly record: T }[]): Map<string | null, T> {
  return new Map(plans.map(({ record }) => [record.id, record]));
}

/** At least what creators have earned, and at least the smallest of each of its deposits. */
function budgetOf({ record, deposits }: Campaign, index: number, context: Context): number {
  const random = new Random(context.stream("budget"), index);
  const planned = random.pareto(4, 1.2, 100) * BUDGET_STEP;
  const headroom = 1.02 + random.unit() * (record.status === "settled" || record.status === "ended" ? 0.25 : 0.9);
  return Math.ceil(Math.max(planned, record.committed_centavos * headroom, deposits * DEPOSIT_STEP) / BUDGET_STEP) * BUDGET_STEP;
}

/** Budgets are multiples of this many centavos. */
const BUDGET_STEP = 500_000;
