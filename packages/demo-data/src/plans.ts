import type { RecordOf } from "@brand-records/resources";
import type { BrandSizes } from "./demo-brands.ts";
import { idAt, Random, streamOf } from "./random.ts";
import { countWhile, DAY, HISTORY, HOUR, paydayFrom } from "./timeline.ts";
import { CAMPAIGN_TYPES, campaignTitle, type CampaignType, type Catalog, CATALOGS, type Platform, PLATFORMS } from "./vocabulary.ts";

export interface BrandOptions {
  readonly brandId: string;
  /** Another number makes another history. */
  readonly seed: number;
  /** End of the generated year, in milliseconds since the epoch. */
  readonly now: number;
  readonly sizes: BrandSizes;
}

/** The inputs of every plan. */
export interface Context {
  readonly now: number;
  readonly sizes: BrandSizes;
  /** Selected by the brand's id. */
  readonly catalog: Catalog;
  /** Returns the random stream of a purpose, for this brand and seed. */
  stream(purpose: string): number;
}

export function contextOf({ brandId, seed, now, sizes }: BrandOptions): Context {
  const catalog = CATALOGS[streamOf(brandId) % CATALOGS.length] as Catalog;
  return { now, sizes, catalog, stream: (purpose) => streamOf(`${brandId} ${seed} ${purpose}`) };
}

/** A brand's creators, by number. */
export interface CreatorPlan {
  readonly ids: readonly string[];
  /** Picks a creator; a few do most of the work. */
  pick(random: Random): number;
}

export const CREATORS_MAX = 50_000;

export function planCreators(context: Context): CreatorPlan {
  const { submissions, links } = context.sizes;
  const count = Math.min(CREATORS_MAX, 5 + Math.ceil(submissions / 10 + links / 3));
  const stream = context.stream("creator id");
  const joined = context.now - HISTORY - 30 * DAY;
  const ids = Array.from({ length: count }, (_, index) => idAt("crt", joined, stream, index));
  return { ids, pick: (random) => Math.floor(count * random.unit() ** 1.8) };
}

/** Longest time from a click to its order, and from an order to its return. */
export const RETURN_WINDOW = 14 * DAY;
/** Time from a campaign's end until its last submission, review and return. */
const SETTLING = RETURN_WINDOW + 8 * DAY;
/** Time from a payday until all its payouts are final. */
export const PAYING = 5 * DAY;

/** A campaign without its sums, which follow from its submissions, conversions and payouts. */
export interface PlannedCampaign {
  readonly index: number;
  readonly id: string;
  readonly title: string;
  readonly type: CampaignType;
  readonly phase: "draft" | "pending_funding" | "cancelled" | "paused" | "running" | "over";
  readonly planId: string | null;
  readonly platforms: readonly Platform[];
  /** Centavos per 1,000 views; null unless blitz. */
  readonly rate: number | null;
  /** Centavos per piece; null unless ugc or package. */
  readonly fee: number | null;
  /** Basis points; null unless affiliate. */
  readonly commission: number | null;
  readonly createdAt: number;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  /** Creators work for the campaign from `runsFrom` until `runsUntil`. The two are equal if it never ran. */
  readonly runsFrom: number;
  readonly runsUntil: number;
  /** The payday on which everything was paid; null unless all payouts are final by now. */
  readonly settledOn: number | null;
}

export interface CampaignPlan {
  readonly all: readonly PlannedCampaign[];
  /** Campaigns that ran, for submissions. Falls back on affiliate campaigns: empty only if no campaign ran. */
  readonly content: readonly PlannedCampaign[];
  /** Campaigns that ran, for links. Empty only if no campaign ran. */
  readonly affiliate: readonly PlannedCampaign[];
}

/**
 * The first two campaigns, an affiliate programme and a call for content, start before the history begins and have no end. A
 * record that finds no other campaign at its time belongs to one of these two.
 */
export function planCampaigns(context: Context): CampaignPlan {
  const all = Array.from({ length: context.sizes.campaigns }, (_, index) => planCampaign(index, context));
  const ran = all.filter(({ runsFrom, runsUntil }) => runsFrom < runsUntil);
  const content = ran.filter(({ type }) => type !== "affiliate");
  return { all, content: content.length > 0 ? content : ran, affiliate: ran.filter(({ type }) => type === "affiliate") };
}

function planCampaign(index: number, context: Context): PlannedCampaign {
  const random = new Random(context.stream("campaign"), index);
  const type = FIRST_TYPES[index] ?? random.pickWeighted(CAMPAIGN_TYPES, [35, 25, 15, 25]);
  const dates = index < 2 ? evergreen(context) : datesOf(phaseOf(index), index, context, random);
  return {
    index,
    id: idAt("cmp", dates.createdAt, context.stream("campaign id"), index),
    title: campaignTitle(type, context.catalog, random),
    type,
    planId: random.chance(0.3) ? idAt("pln", dates.createdAt - HOUR, context.stream("plan id"), index) : null,
    platforms: platformsFor(index, random),
    rate: type === "blitz" ? random.between(6, 30) * 500 : null,
    fee: type === "ugc" || type === "package" ? random.between(3, type === "ugc" ? 16 : 60) * 25_000 : null,
    commission: type === "affiliate" ? random.between(6, 30) * 50 : null,
    ...dates,
    settledOn: settledOn(dates, context),
  };
}

/** The types of the first campaigns, so that small sets have all four. */
const FIRST_TYPES: readonly CampaignType[] = ["affiliate", "ugc", "blitz", "package"];

type Dates = Pick<PlannedCampaign, "phase" | "createdAt" | "startsAt" | "endsAt" | "runsFrom" | "runsUntil">;

function evergreen({ now }: Context): Dates {
  const startsAt = startOfDay(now - HISTORY) - 2 * DAY;
  return { phase: "running", createdAt: startsAt - 9 * DAY, startsAt, endsAt: null, runsFrom: startsAt, runsUntil: now };
}

/** One campaign of every twelve is a draft, one is pending funding, one is cancelled, and one is paused. */
function phaseOf(index: number): PlannedCampaign["phase"] {
  return (["draft", "pending_funding", "cancelled", "paused"] as const)[[5, 7, 9, 11].indexOf(index % 12)] ?? "running";
}

function datesOf(phase: PlannedCampaign["phase"], index: number, { now, sizes }: Context, random: Random): Dates {
  const never = { runsFrom: 0, runsUntil: 0 };
  const createdAt = now - random.between(HOUR, 20 * DAY);
  if (phase === "draft") return { phase, createdAt, startsAt: null, endsAt: null, ...never };
  if (phase === "pending_funding") {
    const startsAt = startOfDay(now + random.between(3, 20) * DAY);
    return { phase, createdAt, startsAt, endsAt: startsAt + random.between(14, 45) * DAY, ...never };
  }
  const position = (index - 2 + random.unit()) / Math.max(1, sizes.campaigns - 2);
  const age = phase === "paused" ? random.between(15, 30) * DAY : (1 - position) * (HISTORY - 10 * DAY) + DAY;
  const startsAt = startOfDay(now - age);
  const endsAt = startsAt + (phase === "paused" ? 60 : random.between(21, 75)) * DAY;
  const dates = { createdAt: startsAt - random.between(4 * DAY, 14 * DAY), startsAt, endsAt };
  if (phase === "cancelled") return { phase, ...dates, ...never };
  if (phase === "paused") return { phase, ...dates, runsFrom: startsAt, runsUntil: now - random.between(1, 7) * DAY };
  return { phase: endsAt <= now ? "over" : "running", ...dates, runsFrom: startsAt, runsUntil: Math.min(endsAt, now) };
}

function settledOn({ phase, endsAt }: Dates, { now }: Context): number | null {
  if (phase !== "over" || endsAt === null) return null;
  const payday = paydayFrom(endsAt + SETTLING);
  return payday + PAYING <= now ? payday : null;
}

const PLATFORM_CHANCES: Readonly<Record<Platform, number>> = { tiktok: 0.97, instagram: 0.75, facebook: 0.6, youtube: 0.35 };

function platformsFor(index: number, random: Random): readonly Platform[] {
  if (index < 2) return PLATFORMS;
  const chosen = PLATFORMS.filter((platform) => random.chance(PLATFORM_CHANCES[platform]));
  return chosen.length > 0 ? chosen : ["tiktok"];
}

/** Returns the last midnight in Manila, at `time` or before. */
function startOfDay(time: number): number {
  return Math.floor((time + 8 * HOUR) / DAY) * DAY - 8 * HOUR;
}

/** A link without its clicks and conversions, which follow from the conversions. */
export interface PlannedLink {
  readonly index: number;
  readonly id: string;
  readonly campaign: PlannedCampaign;
  readonly creator: number;
  readonly createdAt: number;
  /** Time of its last possible order: it is then disabled, or the campaign ends. */
  readonly worksUntil: number;
  readonly disabled: boolean;
  /** Share from 0 to 1; low for most links. */
  readonly appeal: number;
}

export interface LinkPlan {
  /** Sorted by time of creation. */
  readonly all: readonly PlannedLink[];
  /** Counts the links created at `time` or before. */
  countUntil(time: number): number;
}

const DISABLED_SHARE = 0.03;

/** The first link works during the whole history, so every order finds a link. */
export function planLinks(context: Context, campaigns: CampaignPlan, creators: CreatorPlan): LinkPlan {
  const drafts = Array.from({ length: context.sizes.links }, (_, index) => draftLink(index, context, campaigns, creators));
  drafts.sort((a, b) => a.createdAt - b.createdAt);
  const stream = context.stream("link id");
  const all = drafts.map((draft, index) => ({ ...draft, index, id: idAt("lnk", draft.createdAt, stream, index) }));
  return { all, countUntil: (time) => countWhile(all.length, (index) => (all[index]?.createdAt ?? Infinity) <= time) };
}

function draftLink(index: number, context: Context, { affiliate }: CampaignPlan, creators: CreatorPlan): Omit<PlannedLink, "id" | "index"> {
  const random = new Random(context.stream("link"), index);
  const everlasting = affiliate[0] as PlannedCampaign;
  const campaign = index === 0 || random.chance(0.35) ? everlasting : random.pick(affiliate);
  const creator = creators.pick(random);
  if (index === 0) {
    const createdAt = campaign.runsFrom + HOUR;
    return { campaign, creator, createdAt, worksUntil: context.now, disabled: false, appeal: 1 };
  }
  // Creators take their links in the first days of a campaign, and none before the first link.
  const from = campaign.runsFrom + 2 * HOUR;
  const createdAt = Math.floor(from + (campaign.runsUntil - from) * random.unit() ** (campaign === everlasting ? 1 : 2));
  const disabled = random.chance(DISABLED_SHARE);
  const worksUntil = disabled ? Math.min(campaign.runsUntil, createdAt + random.between(1, 30) * DAY) : campaign.runsUntil;
  return { campaign, creator, createdAt, worksUntil, disabled, appeal: random.unit() ** 4 };
}

type DepositStatus = RecordOf<"deposits">["status"];

export interface PlannedDeposit {
  /** Null: paid to the brand's balance. */
  readonly campaign: PlannedCampaign | null;
  readonly status: DepositStatus;
  readonly createdAt: number;
}

const BALANCE_SHARE = 0.12;
const STATUSES = ["pending", "succeeded", "failed", "expired", "refunded"] as const;

/** Deposits by number, spread over the campaigns in rotation. */
export class DepositSource {
  readonly #context: Context;
  readonly #funded: readonly PlannedCampaign[];
  readonly #stream: number;

  constructor(context: Context, { all }: CampaignPlan) {
    this.#context = context;
    this.#funded = all.filter(({ phase }) => phase !== "draft");
    this.#stream = context.stream("deposit");
  }

  plan(index: number): PlannedDeposit {
    const random = new Random(this.#stream, index);
    const first = index < this.#funded.length;
    const toBalance = !first && random.chance(BALANCE_SHARE);
    const campaign = toBalance ? null : (this.#funded[index % this.#funded.length] ?? null);
    const createdAt = this.#timeFor(campaign, first, random);
    return { campaign, createdAt, status: this.#statusFor(campaign, first, createdAt, random) };
  }

  #timeFor(campaign: PlannedCampaign | null, first: boolean, random: Random): number {
    const { now } = this.#context;
    if (campaign === null) return Math.floor(now - HISTORY * random.unit());
    const { createdAt, startsAt, runsFrom, runsUntil } = campaign;
    if (first || runsFrom === runsUntil) return between(createdAt + HOUR, Math.min(startsAt ?? now, now), random);
    return between(runsFrom, runsUntil, random);
  }

  #statusFor(campaign: PlannedCampaign | null, first: boolean, createdAt: number, random: Random): DepositStatus {
    const stillOpen = createdAt > this.#context.now - 2 * DAY;
    if (campaign?.phase === "cancelled") return "refunded";
    if (campaign?.phase === "pending_funding") return stillOpen ? "pending" : random.pick(["failed", "expired"]);
    if (first) return "succeeded";
    return random.pickWeighted(STATUSES, [stillOpen ? 30 : 0, 86, 6, 5, 3]);
  }
}

function between(from: number, until: number, random: Random): number {
  return Math.floor(from + Math.max(0, until - from) * random.unit());
}
