import type { RecordOf } from "@brand-records/resources";
import {
  type CampaignPlan,
  type Context,
  type CreatorPlan,
  type LinkPlan,
  type PlannedCampaign,
  type PlannedLink,
  RETURN_WINDOW,
} from "./plans.ts";
import { Random, Shuffle } from "./random.ts";
import { DAY, HOUR, MINUTE, Timeline } from "./timeline.ts";
import { type Platform, PLATFORM_WEIGHTS } from "./vocabulary.ts";

type SubmissionStatus = RecordOf<"submissions">["status"];

/** A submission before payouts are assigned. */
export interface SubmissionFacts {
  readonly createdAt: number;
  readonly status: SubmissionStatus;
  readonly campaign: PlannedCampaign;
  readonly creator: number;
  /** Null unless approved or rejected. */
  readonly reviewedAt: number | null;
}

interface SubmissionResult {
  readonly platform: Platform;
  readonly views: number | null;
  readonly earned: number;
}

const SHARES = { pending: 0.1, approved: 0.7 };
const REJECTED_OF_REST = 0.75;
/** The oldest share, all reviewed. */
const REVIEWED_SHARE = 0.85;
const CAMPAIGN_TRIES = 6;

/** Submissions by number, each computed from its number alone. Exactly one in ten is pending. */
export class SubmissionSource {
  /** How many were approved long enough ago to have been paid. Payouts are built on these, by rank. */
  readonly payable: number;
  readonly #context: Context;
  readonly #campaigns: CampaignPlan;
  readonly #creators: CreatorPlan;
  readonly #timeline: Timeline;
  readonly #reviewed: Stratum;
  readonly #recent: Stratum;
  readonly #factStream: number;
  readonly #resultStream: number;

  constructor(context: Context, campaigns: CampaignPlan, creators: CreatorPlan) {
    this.#context = context;
    this.#campaigns = campaigns;
    this.#creators = creators;
    const count = context.sizes.submissions;
    this.#timeline = new Timeline(count, context.stream("submission time"), context.now);
    this.#factStream = context.stream("submission");
    this.#resultStream = context.stream("submission result");

    const reviewed = Math.floor(count * REVIEWED_SHARE);
    const pending = Math.round(count * SHARES.pending);
    const approvedRecently = Math.round((count - reviewed - pending) * SHARES.approved);
    const approved = Math.min(reviewed, Math.max(0, Math.round(count * SHARES.approved) - approvedRecently));
    this.#reviewed = new Stratum(0, reviewed, { pending: 0, approved }, context.stream("reviewed submissions"));
    this.#recent = new Stratum(reviewed, count - reviewed, { pending, approved: approvedRecently }, context.stream("recent submissions"));
    this.payable = campaigns.content.some(pays) ? approved : 0;
  }

  facts(index: number): SubmissionFacts {
    const createdAt = this.#timeline.at(index);
    const stratum = index < this.#recent.from ? this.#reviewed : this.#recent;
    const status = stratum.statusOf(index);
    const random = new Random(this.#factStream, index);
    const campaign = this.#campaignAt(createdAt, status, random);
    const creator = this.#creators.pick(random);
    const delay = Math.min(6 * DAY, random.logNormal(14 * HOUR, 1));
    const reviewed = status === "approved" || status === "rejected";
    const reviewedAt = reviewed ? Math.min(this.#context.now, Math.floor(createdAt + delay)) : null;
    return { createdAt, status, campaign, creator, reviewedAt };
  }

  /** Returns the number of the payable submission at `rank`. */
  payableAt(rank: number): number {
    return this.#reviewed.indexAt(rank);
  }

  /** The inverse of `payableAt`; -1 if the submission is not payable. */
  payableRankOf(index: number): number {
    if (index >= this.#recent.from) return -1;
    const rank = this.#reviewed.rankOf(index);
    return rank < this.payable ? rank : -1;
  }

  /** The earnings depend on the campaign. */
  result(index: number, status: SubmissionStatus, campaign: PlannedCampaign): SubmissionResult {
    const random = new Random(this.#resultStream, index);
    const platform = random.pickWeighted(
      campaign.platforms,
      campaign.platforms.map((name) => PLATFORM_WEIGHTS[name]),
    );
    const counted = Math.floor(random.pareto(1_500, 1.05, 4_000_000));
    const measured = status === "approved" && campaign.rate !== null ? true : random.chance(MEASURED_SHARE[status]);
    const earned = status !== "approved" ? 0 : campaign.rate === null ? (campaign.fee ?? 0) : Math.floor((counted * campaign.rate) / 1_000);
    return { platform, views: measured ? counted : null, earned };
  }

  #campaignAt(time: number, status: SubmissionStatus, random: Random): PlannedCampaign {
    const { content } = this.#campaigns;
    for (let i = 0; i < CAMPAIGN_TRIES; i += 1) {
      const campaign = random.pick(content);
      // A settled campaign has nothing pending.
      if (campaign.runsFrom <= time && time < campaign.runsUntil && (status !== "pending" || campaign.settledOn === null)) return campaign;
    }
    return content[0] as PlannedCampaign;
  }
}

const MEASURED_SHARE: Readonly<Record<SubmissionStatus, number>> = { pending: 0.6, approved: 0.9, rejected: 0.8, withdrawn: 0.5 };

const pays = ({ rate, fee }: PlannedCampaign): boolean => rate !== null || fee !== null;

/** A run of submissions with an exact number in each status. */
class Stratum {
  readonly from: number;
  readonly #shuffle: Shuffle;
  readonly #approved: number;
  readonly #pending: number;
  readonly #rejected: number;

  constructor(from: number, count: number, { pending, approved }: { pending: number; approved: number }, stream: number) {
    this.from = from;
    this.#shuffle = new Shuffle(count, stream);
    this.#approved = approved;
    this.#pending = pending;
    this.#rejected = Math.round((count - approved - pending) * REJECTED_OF_REST);
  }

  rankOf(index: number): number {
    return this.#shuffle.rankOf(index - this.from);
  }

  indexAt(rank: number): number {
    return this.from + this.#shuffle.indexAt(rank);
  }

  statusOf(index: number): SubmissionStatus {
    const rank = this.rankOf(index);
    if (rank < this.#approved) return "approved";
    if (rank < this.#approved + this.#pending) return "pending";
    return rank < this.#approved + this.#pending + this.#rejected ? "rejected" : "withdrawn";
  }
}

type ConversionStatus = RecordOf<"conversions">["status"];

/** A conversion before payouts are assigned. */
export interface ConversionFacts {
  readonly createdAt: number;
  readonly status: ConversionStatus;
  readonly link: PlannedLink;
}

const APPROVED_SHARE = 0.91;
/** Share reversed so far of those that can still be returned. */
const REVERSED_EARLY_SHARE = 0.07;
const LINK_TRIES = 40;
/** No payday is further away. */
const NEXT_PAYDAY = 8 * DAY;
/** The shop reports an order within this long. */
const REPORTING_DELAY = 20 * MINUTE;

/** Conversions by number, each computed from its number alone. */
export class ConversionSource {
  /** How many were approved long enough ago to have been paid. Payouts are built on these, by rank. */
  readonly payable: number;
  readonly #context: Context;
  readonly #links: LinkPlan;
  readonly #timeline: Timeline;
  readonly #matured: number;
  readonly #shuffle: Shuffle;
  readonly #factStream: number;
  readonly #orderStream: number;

  constructor(context: Context, links: LinkPlan) {
    this.#context = context;
    this.#links = links;
    this.#timeline = new Timeline(context.sizes.conversions, context.stream("conversion time"), context.now);
    this.#matured = this.#timeline.countUntil(context.now - RETURN_WINDOW - NEXT_PAYDAY);
    this.payable = Math.round(this.#matured * APPROVED_SHARE);
    this.#shuffle = new Shuffle(this.#matured, context.stream("matured conversions"));
    this.#factStream = context.stream("conversion");
    this.#orderStream = context.stream("conversion order");
  }

  facts(index: number): ConversionFacts {
    const createdAt = this.#timeline.at(index);
    const random = new Random(this.#factStream, index);
    return { createdAt, status: this.#statusOf(index, createdAt, random), link: this.#linkAt(createdAt, random) };
  }

  /** Returns the number of the payable conversion at `rank`. */
  payableAt(rank: number): number {
    return this.#shuffle.indexAt(rank);
  }

  /** The inverse of `payableAt`; -1 if the conversion is not payable. */
  payableRankOf(index: number): number {
    if (index >= this.#matured) return -1;
    const rank = this.#shuffle.rankOf(index);
    return rank < this.payable ? rank : -1;
  }

  /** Amounts in centavos; the commission depends on the link. */
  order(index: number, { createdAt }: ConversionFacts, link: PlannedLink) {
    const random = new Random(this.#orderStream, index);
    const amount = Math.max(5_000, Math.round(random.logNormal(this.#context.catalog.medianOrderCentavos, 0.8) / 100) * 100);
    const commission = Math.floor((amount * (link.campaign.commission ?? 0)) / 10_000);
    const occurredAt = Math.max(link.createdAt, createdAt - random.below(REPORTING_DELAY));
    return { amount, commission, occurredAt };
  }

  #statusOf(index: number, createdAt: number, random: Random): ConversionStatus {
    const draw = random.unit();
    if (index < this.#matured) return this.#shuffle.rankOf(index) < this.payable ? "approved" : "reversed";
    if (createdAt > this.#context.now - RETURN_WINDOW) return draw < REVERSED_EARLY_SHARE ? "reversed" : "pending";
    return draw < APPROVED_SHARE ? "approved" : "reversed";
  }

  #linkAt(time: number, random: Random): PlannedLink {
    const { all } = this.#links;
    const linkCount = this.#links.countUntil(time);
    for (let i = 0; i < LINK_TRIES; i += 1) {
      const link = all[random.below(linkCount)] as PlannedLink;
      if (time <= link.worksUntil && random.unit() < link.appeal) return link;
    }
    return all[0] as PlannedLink;
  }
}
