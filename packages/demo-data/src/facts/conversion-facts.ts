import type { RecordOf } from "@brand-records/resources";
import { RETURN_WINDOW } from "../plan/campaign-plan.ts";
import type { Context } from "../plan/context.ts";
import type { LinkPlan, PlannedLink } from "../plan/link-plan.ts";
import { Random } from "../random.ts";
import { Shuffle } from "../shuffle.ts";
import { DAY, MINUTE, Timeline } from "../timeline.ts";

export type ConversionStatus = RecordOf<"conversions">["status"];

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
