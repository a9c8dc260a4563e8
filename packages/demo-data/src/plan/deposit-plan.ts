import type { RecordOf } from "@brand-records/resources";
import { Random } from "../random.ts";
import { DAY, HISTORY, HOUR } from "../timeline.ts";
import type { CampaignPlan, PlannedCampaign } from "./campaign-plan.ts";
import type { Context } from "./context.ts";

export type DepositStatus = RecordOf<"deposits">["status"];

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
