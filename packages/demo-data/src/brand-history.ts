import { ConversionSource } from "./facts/conversion-facts.ts";
import { SubmissionSource } from "./facts/submission-facts.ts";
import { drawUpLedger, type Ledger } from "./ledger.ts";
import { planCampaigns, type CampaignPlan } from "./plan/campaign-plan.ts";
import type { Context } from "./plan/context.ts";
import { planCreators, type CreatorPlan } from "./plan/creator-plan.ts";
import { DepositSource } from "./plan/deposit-plan.ts";
import { planLinks, type LinkPlan } from "./plan/link-plan.ts";
import { PayoutPlan } from "./plan/payout-plan.ts";

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
    this.#ledger ??= drawUpLedger(this.context, this);
    return this.#ledger;
  }
}
