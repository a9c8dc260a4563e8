import type { RecordOf } from "@brand-records/resources";
import type { ConversionFacts, ConversionSource, SubmissionFacts, SubmissionSource } from "./items.ts";
import {
  type CampaignPlan,
  type Context,
  type CreatorPlan,
  CREATORS_MAX,
  type PlannedCampaign,
  type PlannedLink,
  RETURN_WINDOW,
} from "./plans.ts";
import { idAt, Random } from "./random.ts";
import { countWhile, DAY, HISTORY, paydayFrom } from "./timeline.ts";

type PayoutStatus = RecordOf<"payouts">["status"];

export interface PlannedPayout {
  readonly id: string;
  readonly campaign: PlannedCampaign;
  readonly creator: number;
  /** A payday: all payouts of a week share it. */
  readonly createdAt: number;
  readonly status: PayoutStatus;
  /** Pays for nothing in the generated records: there are more payouts than items to pay for. */
  readonly orphan: boolean;
}

type DraftPayout = Pick<PlannedPayout, "campaign" | "creator" | "createdAt" | "orphan">;

/** Share of payouts built on submissions, if there are enough items of both kinds. */
const SUBMISSIONS_SHARE = 0.6;

/**
 * Decides who is paid when, and which payout pays for which submission or conversion.
 *
 * Every payout is built on one approved item, its anchor, so none is empty. Other items of the same campaign and creator join
 * the first payout after they become payable. In a settled campaign everything is paid: an item without a payout moves to
 * a creator who is paid, or to the campaign that runs without end.
 */
export class PayoutPlan {
  readonly all: readonly PlannedPayout[];
  readonly #submissionAnchors: Anchors;
  readonly #conversionAnchors: Anchors;
  readonly #numbers: Int32Array;
  readonly #byPair = new Map<number, number[]>();
  readonly #bySettledCampaign = new Map<number, number[]>();
  readonly #campaigns: CampaignPlan;
  readonly #firstLink: PlannedLink | undefined;
  readonly #submissions: SubmissionSource;
  readonly #conversions: ConversionSource;
  readonly #moveStream: number;

  constructor(
    context: Context,
    plans: { campaigns: CampaignPlan; creators: CreatorPlan; links: readonly PlannedLink[] },
    sources: { submissions: SubmissionSource; conversions: ConversionSource },
  ) {
    this.#campaigns = plans.campaigns;
    this.#firstLink = plans.links[0];
    this.#submissions = sources.submissions;
    this.#conversions = sources.conversions;
    this.#moveStream = context.stream("moved submission");

    const count = context.sizes.payouts;
    const forConversions = Math.min(
      sources.conversions.payable,
      count - Math.min(sources.submissions.payable, Math.round(count * SUBMISSIONS_SHARE)),
    );
    this.#submissionAnchors = new Anchors(Math.min(sources.submissions.payable, count - forConversions), sources.submissions.payable);
    this.#conversionAnchors = new Anchors(forConversions, sources.conversions.payable);

    const drafts = Array.from({ length: count }, (_, slot) => this.#draft(slot, context, plans.creators));
    const order = drafts.map((_, slot) => slot).toSorted((a, b) => timeOf(drafts, a) - timeOf(drafts, b) || a - b);
    this.#numbers = new Int32Array(count);
    order.forEach((slot, number) => (this.#numbers[slot] = number));
    const idStream = context.stream("payout id");
    const statusStream = context.stream("payout status");
    this.all = order.map((slot, number) => {
      const draft = drafts[slot] as DraftPayout;
      const status = statusAt(draft, context.now, new Random(statusStream, number));
      return { ...draft, id: idAt("po", draft.createdAt, idStream, number), status };
    });
    this.all.forEach((payout, number) => this.#index(payout, number));
  }

  /** Returns the submission's final campaign and creator, and the number of its payout (-1 without one). */
  placeSubmission(index: number, facts: SubmissionFacts): { campaign: PlannedCampaign; creator: number; payout: number } {
    const { campaign, creator } = facts;
    if (facts.status !== "approved" || (campaign.rate === null && campaign.fee === null)) return { campaign, creator, payout: -1 };
    const slot = this.#submissionAnchors.slotOf(this.#submissions.payableRankOf(index));
    if (slot !== -1) return { campaign, creator, payout: this.#numbers[slot] ?? -1 };
    const payout = this.#payoutFor(campaign, creator, facts.reviewedAt ?? facts.createdAt);
    if (payout !== -1 || campaign.settledOn === null) return { campaign, creator, payout };

    const random = new Random(this.#moveStream, index);
    const others = this.#bySettledCampaign.get(campaign.index);
    if (others !== undefined) {
      const other = random.pick(others);
      return { campaign, creator: this.all[other]?.creator ?? creator, payout: other };
    }
    const everlasting = this.#campaigns.content[0] ?? campaign;
    return { campaign: everlasting, creator, payout: this.#payoutFor(everlasting, creator, facts.reviewedAt ?? facts.createdAt) };
  }

  /** Returns the conversion's final link, and the number of its payout (-1 without one). */
  placeConversion(index: number, { status, createdAt, link }: ConversionFacts): { link: PlannedLink; payout: number } {
    if (status !== "approved") return { link, payout: -1 };
    const slot = this.#conversionAnchors.slotOf(this.#conversions.payableRankOf(index));
    if (slot !== -1) return { link, payout: this.#numbers[this.#submissionAnchors.slots + slot] ?? -1 };
    const payout = this.#payoutFor(link.campaign, link.creator, createdAt + RETURN_WINDOW);
    if (payout !== -1 || link.campaign.settledOn === null) return { link, payout };
    const first = this.#firstLink ?? link;
    return { link: first, payout: this.#payoutFor(first.campaign, first.creator, createdAt + RETURN_WINDOW) };
  }

  /** A campaign without a payout is never settled: it only ended. */
  isSettled(campaign: PlannedCampaign): boolean {
    return this.#bySettledCampaign.has(campaign.index);
  }

  #draft(slot: number, context: Context, creators: CreatorPlan): DraftPayout {
    const random = new Random(context.stream("payout"), slot);
    const conversionSlot = slot - this.#submissionAnchors.slots;
    if (conversionSlot < 0) {
      const facts = this.#submissions.facts(this.#submissions.payableAt(this.#submissionAnchors.rankAt(slot)));
      const createdAt = paydayOf(facts.campaign, facts.reviewedAt ?? facts.createdAt, 40 * DAY * random.unit(), context.now);
      return { campaign: facts.campaign, creator: facts.creator, createdAt, orphan: false };
    }
    if (conversionSlot < this.#conversionAnchors.slots) {
      const { link, createdAt } = this.#conversions.facts(this.#conversions.payableAt(this.#conversionAnchors.rankAt(conversionSlot)));
      const payday = paydayOf(link.campaign, createdAt + RETURN_WINDOW, 14 * DAY * random.unit(), context.now);
      return { campaign: link.campaign, creator: link.creator, createdAt: payday, orphan: false };
    }
    const campaign = this.#campaigns.content[0] ?? this.#campaigns.all[0];
    if (campaign === undefined) throw new RangeError("payouts need a campaign");
    const createdAt = paydayOf(campaign, context.now - HISTORY * random.unit(), 0, context.now);
    return { campaign, creator: creators.pick(random), createdAt, orphan: true };
  }

  #index(payout: PlannedPayout, number: number): void {
    if (payout.orphan) return;
    append(this.#byPair, pairOf(payout.campaign, payout.creator), number);
    if (payout.campaign.settledOn !== null) append(this.#bySettledCampaign, payout.campaign.index, number);
  }

  #payoutFor(campaign: PlannedCampaign, creator: number, payableFrom: number): number {
    const numbers = this.#byPair.get(pairOf(campaign, creator)) ?? [];
    const earlier = countWhile(numbers.length, (index) => timeOf(this.all, numbers[index] ?? 0) < payableFrom);
    return numbers[earlier] ?? -1;
  }
}

/** Spreads payouts evenly over the payable items; maps payouts to items and back. */
class Anchors {
  readonly slots: number;
  readonly #items: number;

  constructor(slots: number, items: number) {
    this.slots = slots;
    this.#items = items;
  }

  rankAt(slot: number): number {
    return Math.floor((slot * this.#items) / this.slots);
  }

  /** The inverse of `rankAt`; -1 if the item at this rank carries no payout. */
  slotOf(rank: number): number {
    if (rank < 0 || this.slots === 0) return -1;
    const slot = Math.ceil((rank * this.slots) / this.#items);
    return slot < this.slots && this.rankAt(slot) === rank ? slot : -1;
  }
}

/** @param held how long the payout is held until enough has accrued, in milliseconds */
function paydayOf(campaign: PlannedCampaign, payableFrom: number, held: number, now: number): number {
  if (campaign.settledOn !== null) return campaign.settledOn;
  const payday = paydayFrom(payableFrom + held);
  const soonest = paydayFrom(payableFrom);
  return payday <= now ? payday : soonest <= now ? soonest : soonest - 7 * DAY;
}

const STATUSES = ["pending", "processing", "paid", "failed", "cancelled", "reversed"] as const;

function statusAt({ campaign, createdAt }: DraftPayout, now: number, random: Random): PayoutStatus {
  if (campaign.settledOn !== null) return random.pickWeighted(STATUSES, [0, 0, 97, 0, 1.5, 1.5]);
  if (createdAt > now - 3 * DAY) return random.pickWeighted(STATUSES, [60, 40, 0, 0, 0, 0]);
  if (createdAt > now - 10 * DAY) return random.pickWeighted(STATUSES, [25, 25, 45, 5, 0, 0]);
  return random.pickWeighted(STATUSES, [0, 0, 93, 4, 2, 1]);
}

const timeOf = (payouts: readonly DraftPayout[], number: number): number => payouts[number]?.createdAt ?? 0;

const pairOf = (campaign: PlannedCampaign, creator: number): number => campaign.index * CREATORS_MAX + creator;

function append(lists: Map<number, number[]>, key: number, number: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [number]);
  else list.push(number);
}
