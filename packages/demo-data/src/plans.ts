import { formatInstant, type RecordOf } from "@brand-records/resources";
import { type BrandSizes, type Catalog, catalogOf } from "./demo-brands.ts";
import { idAt, mix32, Random, streamOf } from "./random.ts";
import { DAY, HISTORY, HOUR, paydayFrom, startOfDay } from "./timeline.ts";

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
  readonly catalog: Catalog;
  /** Returns the random stream of a purpose, for this brand and seed. */
  stream(purpose: string): number;
}

export function contextOf({ brandId, seed, now, sizes }: BrandOptions): Context {
  return { now, sizes, catalog: catalogOf(brandId), stream: (purpose) => streamOf(`${brandId} ${seed} ${purpose}`) };
}

/** A time of a record, or null. */
export function instantOrNull(time: number | null): string | null {
  return time === null ? null : formatInstant(time);
}

/** Picks the id of a creator; a few do most of the work. */
export type PickCreator = (random: Random) => string;

const CREATORS_MAX = 50_000;

export function planCreators(context: Context): PickCreator {
  const { submissions, links } = context.sizes;
  const count = Math.min(CREATORS_MAX, 5 + Math.ceil(submissions / 10 + links / 3));
  const stream = context.stream("creator id");
  const joined = context.now - HISTORY - 30 * DAY;
  const ids = Array.from({ length: count }, (_, index) => idAt("crt", joined, stream, index));
  return (random) => ids[Math.floor(count * random.unit() ** 1.8)] ?? "";
}

/** Longest time from an order to its return. */
export const RETURN_WINDOW = 14 * DAY;
/** Time from a campaign's end until its last submission, review and return. */
const SETTLING = RETURN_WINDOW + 8 * DAY;
/** Time from a payday until all its payouts are final. */
const PAYING = 5 * DAY;

type CampaignRecord = RecordOf<"campaigns">;

export interface Campaign {
  /** The campaign; submissions, conversions and payouts add its sums and `settled`. */
  readonly record: CampaignRecord;
  /** Creators work for the campaign from `runsFrom` until `runsUntil`. The two are equal if it never ran. */
  readonly runsFrom: number;
  readonly runsUntil: number;
  /** The payday on which everything was paid; null unless all payouts are final by now. */
  readonly settledOn: number | null;
  /** Succeeded deposits. */
  deposits: number;
}

export interface CampaignPlan {
  readonly all: readonly Campaign[];
  /** Campaigns that ran, for submissions. Falls back on affiliate campaigns: empty only if no campaign ran. */
  readonly content: readonly Campaign[];
  /** Campaigns that ran, for links. Empty only if no campaign ran. */
  readonly affiliate: readonly Campaign[];
}

/**
 * The first two campaigns, an affiliate programme and a call for content, start before the history begins and have no end. A
 * record that finds no other campaign at its time belongs to one of these two.
 */
export function planCampaigns(context: Context): CampaignPlan {
  const all = Array.from({ length: context.sizes.campaigns }, (_, index) => planCampaign(index, context));
  const ran = all.filter(({ runsFrom, runsUntil }) => runsFrom < runsUntil);
  const content = ran.filter(({ record }) => record.type !== "affiliate");
  return { all, content: content.length > 0 ? content : ran, affiliate: ran.filter(({ record }) => record.type === "affiliate") };
}

/** One of every twelve campaigns is a draft, one is pending funding, one is cancelled, and one is paused. The first four have all types. */
const KINDS: readonly (readonly [type: CampaignRecord["type"], status?: CampaignRecord["status"]])[] = [
  ["affiliate"],
  ["ugc"],
  ["blitz"],
  ["package"],
  ["blitz"],
  ["ugc", "draft"],
  ["affiliate"],
  ["blitz", "pending_funding"],
  ["affiliate"],
  ["package", "cancelled"],
  ["package"],
  ["affiliate", "paused"],
];

/** `%` stands for a product. Titles repeat in large sets. */
const TITLES: Readonly<Record<CampaignRecord["type"], readonly string[]>> = {
  blitz: ["% Clip Challenge", "Payday Budol: % Clipping Blitz", "Clip mo, Kita mo: %", "10.10 % Clip Rush"],
  ugc: ["Honest Review ng %", "GRWM with %", "% Unboxing, Taglish OK", "Bakit ko binalikan ang %", "A Week with %"],
  package: ["% Launch: Mga Ate at Kuya ng Bayan", "Barkada Package: %", "Ber Months na! % Ambassadors"],
  affiliate: ["Share & Earn: %", "Kita Kits: % Links", "12.12 % Affiliate Sale", "Payday Weekend: % Codes"],
};

const PLATFORM_CHANCES = { tiktok: 0.97, instagram: 0.75, facebook: 0.6, youtube: 0.35 };

function planCampaign(index: number, context: Context): Campaign {
  const random = new Random(context.stream("campaign"), index);
  const [type, planned] = KINDS[index % KINDS.length] ?? ["ugc"];
  const isEvergreen = index < 2;
  const { status, createdAt, startsAt, endsAt, runsFrom, runsUntil } = isEvergreen
    ? evergreen(context)
    : datesOf(planned, index, context, random);
  const title = random.pick(TITLES[type]).replace("%", () => random.pick(context.catalog.products));
  const platforms = Object.entries(PLATFORM_CHANCES).filter(([, chance]) => isEvergreen || random.chance(chance));
  const record: CampaignRecord = {
    id: idAt("cmp", createdAt, context.stream("campaign id"), index),
    created_at: formatInstant(createdAt),
    updated_at: formatInstant(Math.min(context.now, (runsUntil === 0 ? createdAt : runsUntil) + random.below(6 * HOUR))),
    title,
    type,
    status,
    plan_id: random.chance(0.3) ? idAt("pln", createdAt - HOUR, context.stream("plan id"), index) : null,
    currency: "PHP",
    budget_centavos: 0,
    committed_centavos: 0,
    paid_centavos: 0,
    rate_per_1000_views_centavos: type === "blitz" ? random.between(6, 30) * 500 : null,
    fee_per_deliverable_centavos: type === "ugc" || type === "package" ? random.between(3, type === "ugc" ? 16 : 60) * 25_000 : null,
    commission_bps: type === "affiliate" ? random.between(6, 30) * 50 : null,
    platforms: platforms.length > 0 ? platforms.map(([name]) => name) : ["tiktok"],
    starts_at: instantOrNull(startsAt),
    ends_at: instantOrNull(endsAt),
    settled_at: null,
  };
  const payday = status === "ended" && endsAt !== null ? paydayFrom(endsAt + SETTLING) : Infinity;
  return { record, runsFrom, runsUntil, settledOn: payday + PAYING <= context.now ? payday : null, deposits: 0 };
}

export function settle({ record, settledOn }: Campaign, context: Context): void {
  const random = new Random(context.stream(`settled ${record.id}`), 0);
  record.status = "settled";
  record.settled_at = formatInstant((settledOn ?? 0) + PAYING - random.below(DAY));
  record.updated_at = record.settled_at;
}

interface Dates extends Pick<Campaign, "runsFrom" | "runsUntil"> {
  readonly status: CampaignRecord["status"];
  readonly createdAt: number;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
}

function evergreen({ now }: Context): Dates {
  const startsAt = startOfDay(now - HISTORY) - 2 * DAY;
  return { status: "active", createdAt: startsAt - 9 * DAY, startsAt, endsAt: null, runsFrom: startsAt, runsUntil: now };
}

function datesOf(status: CampaignRecord["status"] | undefined, index: number, { now, sizes }: Context, random: Random): Dates {
  const never = { runsFrom: 0, runsUntil: 0 };
  const createdAt = now - random.between(HOUR, 20 * DAY);
  if (status === "draft") return { status, createdAt, startsAt: null, endsAt: null, ...never };
  if (status === "pending_funding") {
    const startsAt = startOfDay(now + random.between(3, 20) * DAY);
    return { status, createdAt, startsAt, endsAt: startsAt + random.between(14, 45) * DAY, ...never };
  }
  const position = (index - 2 + random.unit()) / Math.max(1, sizes.campaigns - 2);
  const age = status === "paused" ? random.between(15, 30) * DAY : (1 - position) * (HISTORY - 10 * DAY) + DAY;
  const startsAt = startOfDay(now - age);
  const endsAt = startsAt + (status === "paused" ? 60 : random.between(21, 75)) * DAY;
  const dates = { createdAt: startsAt - random.between(4 * DAY, 14 * DAY), startsAt, endsAt };
  if (status === "cancelled") return { status, ...dates, ...never };
  if (status === "paused") return { status, ...dates, runsFrom: startsAt, runsUntil: now - random.between(1, 7) * DAY };
  return { status: endsAt <= now ? "ended" : "active", ...dates, runsFrom: startsAt, runsUntil: Math.min(endsAt, now) };
}

export interface Link {
  /** The link; conversions add its clicks, its conversions and its last change. */
  readonly record: RecordOf<"links">;
  readonly campaign: Campaign;
  readonly createdAt: number;
  /** Time of its last possible order: it is then disabled, or the campaign ends. */
  readonly worksUntil: number;
  /** Share from 0 to 1; low for most links. */
  readonly appeal: number;
}

const DISABLED_SHARE = 0.03;
/** A link expires this long after its campaign's end. */
const EXPIRES_AFTER = 7 * DAY;

/** Returns the links by time of creation. The first works during the whole history, so every order finds a link. */
export function planLinks(context: Context, campaigns: CampaignPlan, pickCreator: PickCreator): readonly Link[] {
  const links = Array.from({ length: context.sizes.links }, (_, index) => planLink(index, context, campaigns, pickCreator));
  return links.toSorted((a, b) => a.createdAt - b.createdAt);
}

function planLink(index: number, context: Context, { affiliate }: CampaignPlan, pickCreator: PickCreator): Link {
  const random = new Random(context.stream("link"), index);
  const everlasting = affiliate[0] as Campaign;
  const isFirst = index === 0;
  const campaign = isFirst || random.chance(0.35) ? everlasting : random.pick(affiliate);
  // Creators take their links in the first days of a campaign, and none before the first link.
  const from = campaign.runsFrom + 2 * HOUR;
  const later = Math.floor(from + (campaign.runsUntil - from) * random.unit() ** (campaign === everlasting ? 1 : 2));
  const createdAt = isFirst ? campaign.runsFrom + HOUR : later;
  const disabled = !isFirst && random.chance(DISABLED_SHARE);
  const worksUntil = disabled ? Math.min(campaign.runsUntil, createdAt + random.between(1, 30) * DAY) : campaign.runsUntil;
  const { shop, products } = context.catalog;
  // Numbers of 32 bits that differ for every index of a stream.
  const code = mix32(context.stream("link code") + index)
    .toString(32)
    .padStart(7, "0")
    .toUpperCase();
  const { ends_at, status } = campaign.record;
  const expiresAt = ends_at === null ? null : Date.parse(ends_at) + EXPIRES_AFTER;
  const expired = expiresAt !== null && expiresAt <= context.now;
  const record: Link["record"] = {
    id: idAt("lnk", createdAt, context.stream("link id"), index),
    created_at: formatInstant(createdAt),
    updated_at: formatInstant(disabled ? worksUntil : createdAt),
    campaign_id: campaign.record.id,
    creator_id: pickCreator(random),
    status: disabled ? "disabled" : expired ? "expired" : status === "paused" ? "paused" : "active",
    code,
    url: `https://go.${shop}/${code}`,
    destination_url: `https://${shop}/products/${slug(random.pick(products))}?ref=${code}`,
    clicks: 0,
    conversions: 0,
    expires_at: instantOrNull(expiresAt),
  };
  return { record, campaign, createdAt, worksUntil, appeal: isFirst ? 1 : random.unit() ** 4 };
}

function slug(product: string): string {
  return product.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
