import { idAt } from "../ids.ts";
import { Random } from "../random.ts";
import { DAY, HISTORY, HOUR, paydayFrom } from "../timeline.ts";
import { CAMPAIGN_TYPES, campaignTitle, PLATFORMS, type CampaignType, type Platform } from "../vocabulary.ts";
import type { Context } from "./context.ts";

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
