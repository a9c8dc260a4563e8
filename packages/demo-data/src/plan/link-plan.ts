import { idAt } from "../ids.ts";
import { Random } from "../random.ts";
import { DAY, HOUR } from "../timeline.ts";
import type { CampaignPlan, PlannedCampaign } from "./campaign-plan.ts";
import type { Context } from "./context.ts";
import type { CreatorPlan } from "./creator-plan.ts";

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
  return { all, countUntil: (time) => countUntil(all, time) };
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

function countUntil(links: readonly PlannedLink[], time: number): number {
  let low = 0;
  let high = links.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((links[middle]?.createdAt ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
