import type { RecordOf } from "@brand-records/resources";
import { type Campaign, type CampaignPlan, type Context, type Link, type PickCreator, RETURN_WINDOW } from "./plans.ts";
import { Random } from "./random.ts";
import { countWhile, DAY, HOUR, timeline } from "./timeline.ts";

/** Picks `count` of `length` items, evenly spaced, and numbers them: its slots. */
class Spread {
  readonly count: number;
  readonly length: number;

  constructor(count: number, length: number) {
    this.count = count;
    this.length = length;
  }

  /** Returns the slot of the item at `index`; -1 if it has none. */
  slotOf(index: number): number {
    if (index >= this.length) return -1;
    const slot = Math.floor((index * this.count) / this.length);
    return Math.floor(((index + 1) * this.count) / this.length) > slot ? slot : -1;
  }

  /** The inverse of `slotOf`. */
  indexOf(slot: number): number {
    return Math.ceil(((slot + 1) * this.length) / this.count) - 1;
  }
}

/** A submission before the others paid with it are known. */
export interface SubmissionFacts {
  readonly createdAt: number;
  readonly status: RecordOf<"submissions">["status"];
  readonly campaign: Campaign;
  readonly creator: string;
  /** Null unless approved or rejected. */
  readonly reviewedAt: number | null;
}

export type Submissions = ReturnType<typeof planSubmissions>;

const PENDING_SHARE = 0.1;
/** The oldest share, all reviewed. */
const REVIEWED_SHARE = 0.85;
const CAMPAIGN_TRIES = 6;

/** How many submissions are old enough to have been paid. */
export function payableSubmissions({ sizes }: Context, { content }: CampaignPlan): number {
  return content.some(({ record }) => record.type !== "affiliate") ? Math.floor(sizes.submissions * REVIEWED_SHARE) : 0;
}

/** Submissions by index, each computed from its index alone. Exactly one in ten is pending. A payout is built on each of `anchors`. */
export function planSubmissions(
  context: Context,
  { content }: CampaignPlan,
  { pickCreator, payouts }: { pickCreator: PickCreator; payouts: number },
) {
  const count = context.sizes.submissions;
  const at = timeline(count, context.stream("submission time"), context.now);
  const stream = context.stream("submission");
  const reviewed = Math.floor(count * REVIEWED_SHARE);
  const pending = new Spread(Math.round(count * PENDING_SHARE), count - reviewed);
  const anchors = new Spread(payouts, reviewed);

  const statusOf = (index: number, random: Random): SubmissionFacts["status"] => {
    const drawn = random.pickWeighted(["approved", "rejected", "withdrawn"] as const, [60, 30, 10]);
    if (anchors.slotOf(index) !== -1) return "approved";
    return index >= reviewed && pending.slotOf(index - reviewed) !== -1 ? "pending" : drawn;
  };
  const campaignAt = (time: number, status: string, random: Random): Campaign => {
    for (let i = 0; i < CAMPAIGN_TRIES; i += 1) {
      const campaign = random.pick(content);
      // A settled campaign has nothing pending.
      if (campaign.runsFrom <= time && time < campaign.runsUntil && (status !== "pending" || campaign.settledOn === null)) return campaign;
    }
    return content[0] as Campaign;
  };

  const facts = (index: number): SubmissionFacts => {
    const random = new Random(stream, index);
    const createdAt = at(index);
    const status = statusOf(index, random);
    const campaign = campaignAt(createdAt, status, random);
    const delay = Math.min(6 * DAY, random.logNormal(14 * HOUR, 1));
    const isReviewed = status === "approved" || status === "rejected";
    const reviewedAt = isReviewed ? Math.min(context.now, Math.floor(createdAt + delay)) : null;
    return { createdAt, status, campaign, creator: pickCreator(random), reviewedAt };
  };
  return { anchors, facts };
}

/** A conversion before the others paid with it are known. */
export interface ConversionFacts {
  readonly createdAt: number;
  readonly status: RecordOf<"conversions">["status"];
  readonly link: Link;
}

export type Conversions = ReturnType<typeof planConversions>;

const APPROVED_SHARE = 0.91;
/** Share reversed so far of those that can still be returned. */
const REVERSED_EARLY_SHARE = 0.07;
const LINK_TRIES = 40;
/** No payday is further away. */
const NEXT_PAYDAY = 8 * DAY;

const conversionTimes = ({ sizes, stream, now }: Context): ((index: number) => number) =>
  timeline(sizes.conversions, stream("conversion time"), now);

/** How many conversions are old enough to have been paid. */
export function payableConversions(context: Context): number {
  const at = conversionTimes(context);
  return countWhile(context.sizes.conversions, (index) => at(index) <= context.now - RETURN_WINDOW - NEXT_PAYDAY);
}

/** Conversions by index, each computed from its index alone. A payout is built on each of `anchors`. */
export function planConversions(context: Context, links: readonly Link[], { payable, payouts }: { payable: number; payouts: number }) {
  const at = conversionTimes(context);
  const stream = context.stream("conversion");
  const anchors = new Spread(payouts, payable);

  const linkAt = (time: number, random: Random): Link => {
    const linkCount = countWhile(links.length, (index) => (links[index]?.createdAt ?? Infinity) <= time);
    for (let i = 0; i < LINK_TRIES; i += 1) {
      const link = links[random.below(linkCount)] as Link;
      if (time <= link.worksUntil && random.unit() < link.appeal) return link;
    }
    return links[0] as Link;
  };

  const facts = (index: number): ConversionFacts => {
    const random = new Random(stream, index);
    const createdAt = at(index);
    const link = linkAt(createdAt, random);
    const draw = random.unit();
    if (createdAt > context.now - RETURN_WINDOW) return { createdAt, status: draw < REVERSED_EARLY_SHARE ? "reversed" : "pending", link };
    const approved = draw < APPROVED_SHARE || anchors.slotOf(index) !== -1;
    return { createdAt, status: approved ? "approved" : "reversed", link };
  };
  return { anchors, facts };
}
