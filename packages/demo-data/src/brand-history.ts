import { ConversionSource, SubmissionSource } from "./items.ts";
import { PayoutPlan } from "./payout-plan.ts";
import {
  type CampaignPlan,
  type Context,
  type CreatorPlan,
  DepositSource,
  type LinkPlan,
  planCampaigns,
  planCreators,
  planLinks,
  type PlannedCampaign,
} from "./plans.ts";
import { Random } from "./random.ts";

/** Budgets are multiples of this many centavos. */
const BUDGET_STEP = 500_000;
/** The smallest deposit for a campaign, in centavos. */
export const DEPOSIT_STEP = 100_000;

/** The sums on which campaigns, payouts, links and deposits agree, by number. Money in centavos. */
export interface Ledger {
  readonly payoutAmount: Float64Array;
  readonly payoutSubmissions: Int32Array;
  readonly payoutConversions: Int32Array;
  /** Conversions that are not reversed; all conversions; the time of the last one. */
  readonly linkConversions: Int32Array;
  readonly linkOrders: Int32Array;
  readonly linkLastAt: Float64Array;
  readonly campaignCommitted: Float64Array;
  readonly campaignPaid: Float64Array;
  readonly campaignBudget: Float64Array;
  /** Succeeded deposits. */
  readonly campaignDeposits: Int32Array;
}

/** Reads every submission, conversion and deposit once, and keeps sums only. */
function drawUpLedger(history: BrandHistory): Ledger {
  const { context, payouts, campaigns } = history;
  const { sizes } = context;
  const ledger: Ledger = {
    payoutAmount: new Float64Array(sizes.payouts),
    payoutSubmissions: new Int32Array(sizes.payouts),
    payoutConversions: new Int32Array(sizes.payouts),
    linkConversions: new Int32Array(sizes.links),
    linkOrders: new Int32Array(sizes.links),
    linkLastAt: new Float64Array(sizes.links),
    campaignCommitted: new Float64Array(sizes.campaigns),
    campaignPaid: new Float64Array(sizes.campaigns),
    campaignBudget: new Float64Array(sizes.campaigns),
    campaignDeposits: new Int32Array(sizes.campaigns),
  };
  addOrphans(ledger, history);
  addSubmissions(ledger, history);
  addConversions(ledger, history);
  addDeposits(ledger, history);
  payouts.all.forEach(({ campaign, status }, number) => {
    if (status === "paid") add(ledger.campaignPaid, campaign.index, ledger.payoutAmount[number] ?? 0);
  });
  for (const campaign of campaigns.all) ledger.campaignBudget[campaign.index] = budgetOf(campaign, ledger, context);
  return ledger;
}

function addOrphans(ledger: Ledger, { context, payouts }: BrandHistory): void {
  const stream = context.stream("orphan payout");
  payouts.all.forEach(({ orphan, campaign }, number) => {
    if (!orphan) return;
    const random = new Random(stream, number);
    const amount = random.between(1, 400) * 5_000;
    ledger.payoutAmount[number] = amount;
    ledger.payoutSubmissions[number] = random.between(1, 6);
    add(ledger.campaignCommitted, campaign.index, amount);
  });
}

function addSubmissions(ledger: Ledger, { context: { sizes }, submissions, payouts }: BrandHistory): void {
  for (let index = 0; index < sizes.submissions; index += 1) {
    const facts = submissions.facts(index);
    if (facts.status !== "approved") continue;
    const { campaign, payout } = payouts.placeSubmission(index, facts);
    const { earned } = submissions.result(index, facts.status, campaign);
    add(ledger.campaignCommitted, campaign.index, earned);
    if (payout === -1) continue;
    add(ledger.payoutAmount, payout, earned);
    add(ledger.payoutSubmissions, payout, 1);
  }
}

function addConversions(ledger: Ledger, { context: { sizes }, conversions, payouts }: BrandHistory): void {
  for (let index = 0; index < sizes.conversions; index += 1) {
    const facts = conversions.facts(index);
    const { link, payout } = payouts.placeConversion(index, facts);
    add(ledger.linkOrders, link.index, 1);
    if (facts.createdAt > (ledger.linkLastAt[link.index] ?? 0)) ledger.linkLastAt[link.index] = facts.createdAt;
    if (facts.status !== "reversed") add(ledger.linkConversions, link.index, 1);
    if (facts.status !== "approved") continue;
    const { commission } = conversions.order(index, facts, link);
    add(ledger.campaignCommitted, link.campaign.index, commission);
    if (payout === -1) continue;
    add(ledger.payoutAmount, payout, commission);
    add(ledger.payoutConversions, payout, 1);
  }
}

function addDeposits(ledger: Ledger, { context: { sizes }, deposits }: BrandHistory): void {
  for (let index = 0; index < sizes.deposits; index += 1) {
    const { campaign, status } = deposits.plan(index);
    if (campaign !== null && status === "succeeded") add(ledger.campaignDeposits, campaign.index, 1);
  }
}

/** Sum that is at least what creators have earned, and at least the smallest of that many deposits. */
function budgetOf(campaign: PlannedCampaign, ledger: Ledger, context: Context): number {
  const random = new Random(context.stream("budget"), campaign.index);
  const planned = random.pareto(4, 1.2, 100) * BUDGET_STEP;
  const headroom = 1.02 + random.unit() * (campaign.phase === "over" ? 0.25 : 0.9);
  const committed = (ledger.campaignCommitted[campaign.index] ?? 0) * headroom;
  const deposited = (ledger.campaignDeposits[campaign.index] ?? 0) * DEPOSIT_STEP;
  return Math.ceil(Math.max(planned, committed, deposited) / BUDGET_STEP) * BUDGET_STEP;
}

function add(sums: Float64Array | Int32Array, at: number, amount: number): void {
  sums[at] = (sums[at] ?? 0) + amount;
}

/**
 * What the records of one brand have in common. Its size grows with campaigns, links, creators and payouts; submissions,
 * conversions and deposits are made one by one and never kept.
 */
export class BrandHistory {
  readonly context: Context;
  readonly campaigns: CampaignPlan;
  readonly creators: CreatorPlan;
  readonly links: LinkPlan;
  readonly submissions: SubmissionSource;
  readonly conversions: ConversionSource;
  readonly payouts: PayoutPlan;
  readonly deposits: DepositSource;
  #ledger: Ledger | undefined;

  constructor(context: Context) {
    this.context = context;
    this.campaigns = planCampaigns(context);
    this.creators = planCreators(context);
    this.links = planLinks(context, this.campaigns, this.creators);
    this.submissions = new SubmissionSource(context, this.campaigns, this.creators);
    this.conversions = new ConversionSource(context, this.links);
    const plans = { campaigns: this.campaigns, creators: this.creators, links: this.links.all };
    this.payouts = new PayoutPlan(context, plans, { submissions: this.submissions, conversions: this.conversions });
    this.deposits = new DepositSource(context, this.campaigns);
  }

  /** Drawn up on first use: submissions and conversions alone do not need it. */
  get ledger(): Ledger {
    this.#ledger ??= drawUpLedger(this);
    return this.#ledger;
  }
}
