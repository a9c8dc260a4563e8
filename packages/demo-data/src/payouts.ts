import { formatInstant, type RecordOf } from "@brand-records/resources";
import type { ConversionFacts, Conversions, SubmissionFacts, Submissions } from "./items.ts";
import { type Campaign, type CampaignPlan, type Context, instantOrNull, type Link, type PickCreator, RETURN_WINDOW } from "./plans.ts";
import { idAt, Random } from "./random.ts";
import { countWhile, DAY, HISTORY, HOUR, MINUTE, paydayFrom } from "./timeline.ts";

export interface Payout {
  /** The payout; submissions and conversions add its amount and counts. */
  readonly record: RecordOf<"payouts">;
  readonly campaign: Campaign;
  /** A payday: all payouts of a week share it. */
  readonly createdAt: number;
}

export type PayoutPlan = ReturnType<typeof planPayouts>;

interface Parts {
  readonly campaigns: CampaignPlan;
  readonly links: readonly Link[];
  readonly pickCreator: PickCreator;
  readonly submissions: Submissions;
  readonly conversions: Conversions;
}

/**
 * Decides who is paid when, and which payout pays for which submission or conversion.
 *
 * Every payout is built on one approved item, its anchor, so none is empty. Other items of the same campaign and creator join
 * the first payout after they become payable. In a settled campaign everything is paid: an item without a payout moves to
 * a creator who is paid, or to the campaign that runs without end.
 */
export function planPayouts(context: Context, { campaigns, links, pickCreator, submissions, conversions }: Parts) {
  const forSubmissions = submissions.anchors.count;
  const bySlot = Array.from({ length: context.sizes.payouts }, (_, slot) => {
    const random = new Random(context.stream("payout"), slot);
    const conversionSlot = slot - forSubmissions;
    if (conversionSlot < 0) {
      const { campaign, creator, reviewedAt } = submissions.facts(submissions.anchors.indexOf(slot));
      return planPayout(slot, context, { campaign, creator, payableFrom: reviewedAt ?? 0, held: 40 * DAY * random.unit() });
    }
    if (conversionSlot < conversions.anchors.count) {
      const { link, createdAt } = conversions.facts(conversions.anchors.indexOf(conversionSlot));
      const { campaign, record } = link;
      const payableFrom = createdAt + RETURN_WINDOW;
      return planPayout(slot, context, { campaign, creator: record.creator_id, payableFrom, held: 14 * DAY * random.unit() });
    }
    const campaign = (campaigns.content[0] ?? campaigns.all[0]) as Campaign;
    const orphan = planPayout(slot, context, {
      campaign,
      creator: pickCreator(random),
      payableFrom: context.now - HISTORY * random.unit(),
      held: 0,
    });
    orphan.record.amount_centavos = random.between(1, 400) * 5_000;
    orphan.record.submission_count = random.between(1, 6);
    campaign.record.committed_centavos += orphan.record.amount_centavos;
    return orphan;
  });
  const all = bySlot.toSorted((a, b) => a.createdAt - b.createdAt);
  const anchored = new Set(bySlot.slice(0, forSubmissions + conversions.anchors.count));
  const payoutsOf = Map.groupBy(
    all.filter((payout) => anchored.has(payout)),
    ({ campaign, record }) => pairOf(campaign, record.creator_id),
  );
  const ofSettled = Map.groupBy(
    [...anchored].filter(({ campaign }) => campaign.settledOn !== null),
    ({ campaign }) => campaign,
  );
  const payoutFor = (campaign: Campaign, creator: string, payableFrom: number): Payout | undefined => {
    const payouts = payoutsOf.get(pairOf(campaign, creator)) ?? [];
    return payouts[countWhile(payouts.length, (index) => (payouts[index]?.createdAt ?? 0) < payableFrom)];
  };
  const moveStream = context.stream("moved submission");

  return {
    /** Sorted by time of creation. */
    all,
    /** A campaign without a payout is never settled: it only ended. */
    settled: ofSettled.keys(),
    /** Returns the submission's final campaign and creator, and its payout if it has one. */
    placeSubmission(index: number, { campaign, creator, status, reviewedAt }: SubmissionFacts) {
      if (status !== "approved" || campaign.record.type === "affiliate") return { campaign, creator, payout: undefined };
      const payout = bySlot[submissions.anchors.slotOf(index)] ?? payoutFor(campaign, creator, reviewedAt ?? 0);
      if (payout !== undefined || campaign.settledOn === null) return { campaign, creator, payout };
      const others = ofSettled.get(campaign);
      if (others !== undefined) {
        const other = new Random(moveStream, index).pick(others);
        return { campaign, creator: other.record.creator_id, payout: other };
      }
      const everlasting = campaigns.content[0] ?? campaign;
      return { campaign: everlasting, creator, payout: payoutFor(everlasting, creator, reviewedAt ?? 0) };
    },
    /** Returns the conversion's final link, and its payout if it has one. */
    placeConversion(index: number, { status, createdAt, link }: ConversionFacts) {
      if (status !== "approved") return { link, payout: undefined };
      const slot = conversions.anchors.slotOf(index);
      const payableFrom = createdAt + RETURN_WINDOW;
      const payout = slot === -1 ? payoutFor(link.campaign, link.record.creator_id, payableFrom) : bySlot[forSubmissions + slot];
      if (payout !== undefined || link.campaign.settledOn === null) return { link, payout };
      const first = links[0] ?? link;
      return { link: first, payout: payoutFor(first.campaign, first.record.creator_id, payableFrom) };
    },
  };
}

const pairOf = ({ record }: Campaign, creator: string): string => `${record.id} ${creator}`;

const STATUSES = ["pending", "processing", "paid", "failed", "cancelled", "reversed"] as const;
const FAILURES = ["account_invalid", "rail_unavailable", "compliance", "other"] as const;

/** `held` is how long the payout is held until enough has accrued, in milliseconds. */
function planPayout(
  slot: number,
  context: Context,
  { campaign, creator, payableFrom, held }: { campaign: Campaign; creator: string; payableFrom: number; held: number },
): Payout {
  const random = new Random(context.stream("payout record"), slot);
  const createdAt = campaign.settledOn ?? openPayday(payableFrom, held, context.now);
  const status = random.pickWeighted(STATUSES, statusWeights(campaign, context.now - createdAt));
  const record: Payout["record"] = {
    id: idAt("po", createdAt, context.stream("payout id"), slot),
    created_at: formatInstant(createdAt),
    ...timesOf(status, createdAt, context.now, random),
    campaign_id: campaign.record.id,
    creator_id: creator,
    status,
    amount_centavos: 0,
    fee_centavos: 0,
    currency: "PHP",
    submission_count: 0,
    conversion_count: 0,
    failure_code: status === "failed" ? random.pickWeighted(FAILURES, [55, 25, 12, 8]) : null,
  };
  return { record, campaign, createdAt };
}

function openPayday(payableFrom: number, held: number, now: number): number {
  const payday = paydayFrom(payableFrom + held);
  const soonest = paydayFrom(payableFrom);
  return payday <= now ? payday : soonest <= now ? soonest : soonest - 7 * DAY;
}

/** Returns the weight of each of STATUSES. */
function statusWeights({ settledOn }: Campaign, age: number): readonly number[] {
  if (settledOn !== null) return [0, 0, 97, 0, 1.5, 1.5];
  if (age < 3 * DAY) return [60, 40, 0, 0, 0, 0];
  if (age < 10 * DAY) return [25, 25, 45, 5, 0, 0];
  return [0, 0, 93, 4, 2, 1];
}

/** Only payouts older than three days are paid, and none takes longer, so no time is in the future. */
function timesOf(status: Payout["record"]["status"], createdAt: number, now: number, random: Random) {
  const initiatedAt = Math.min(now, createdAt + random.between(MINUTE, HOUR));
  const finalAt = initiatedAt + random.between(5 * MINUTE, 2 * DAY);
  const reversedAt = finalAt + random.between(HOUR, DAY);
  const changedAt = {
    pending: createdAt,
    processing: initiatedAt,
    paid: finalAt,
    failed: finalAt,
    cancelled: finalAt,
    reversed: reversedAt,
  };
  return {
    updated_at: formatInstant(Math.min(now, changedAt[status])),
    initiated_at: instantOrNull(status === "pending" || status === "cancelled" ? null : initiatedAt),
    paid_at: instantOrNull(status === "paid" || status === "reversed" ? finalAt : null),
  };
}
