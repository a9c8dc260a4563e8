import { formatInstant, type RecordOf } from "@brand-records/resources";
import { PAYING, type PlannedCampaign } from "../plan/campaign-plan.ts";
import { Random } from "../random.ts";
import { DAY, HOUR } from "../timeline.ts";
import type { BrandHistory } from "../brand-history.ts";

export function* campaignRecords(history: BrandHistory): Generator<RecordOf<"campaigns">> {
  const { campaigns, ledger, payouts, context } = history;
  const stream = context.stream("campaign update");
  for (const campaign of campaigns.all) {
    const { index } = campaign;
    const status = statusOf(campaign, payouts.isSettled(campaign));
    const random = new Random(stream, index);
    const settledAt = status === "settled" ? (campaign.settledOn ?? 0) + PAYING - random.below(DAY) : null;
    const updatedAt = settledAt ?? Math.min(context.now, lastChange(campaign) + random.below(6 * HOUR));
    yield {
      id: campaign.id,
      created_at: formatInstant(campaign.createdAt),
      updated_at: formatInstant(updatedAt),
      title: campaign.title,
      type: campaign.type,
      status,
      plan_id: campaign.planId,
      currency: "PHP",
      budget_centavos: ledger.campaignBudget[index] ?? 0,
      committed_centavos: ledger.campaignCommitted[index] ?? 0,
      paid_centavos: ledger.campaignPaid[index] ?? 0,
      rate_per_1000_views_centavos: campaign.rate,
      fee_per_deliverable_centavos: campaign.fee,
      commission_bps: campaign.commission,
      platforms: [...campaign.platforms],
      starts_at: campaign.startsAt === null ? null : formatInstant(campaign.startsAt),
      ends_at: campaign.endsAt === null ? null : formatInstant(campaign.endsAt),
      settled_at: settledAt === null ? null : formatInstant(settledAt),
    };
  }
}

function statusOf({ phase }: PlannedCampaign, settled: boolean): RecordOf<"campaigns">["status"] {
  if (phase === "over") return settled ? "settled" : "ended";
  return phase === "running" ? "active" : phase;
}

function lastChange({ phase, createdAt, runsUntil }: PlannedCampaign): number {
  return phase === "running" || phase === "paused" || phase === "over" ? runsUntil : createdAt;
}
