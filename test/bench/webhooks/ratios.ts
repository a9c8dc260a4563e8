import { spreadOf, type Spread } from "../statistics.ts";
import type { Burst } from "./burst.ts";
import { TARGETS } from "./settings.ts";
import type { Phase, SteadyRound } from "./steady-round.ts";

export interface Ratio extends Spread {
  /** The ratio of each round, in order. */
  readonly rounds: readonly number[];
  readonly at_most?: number;
}

/** Each disturbed phase with the calm of the same round and the same rate. */
const OVER_CALM = {
  healthy_p99_with_hanging_over_without: { of: "hanging", to: "calm" },
  others_p99_with_backlog_over_without: { of: "backlog", to: "calm" },
  p99_with_deleted_backlog_over_without: { of: "deleted_backlog", to: "calm" },
  p99_with_dump_over_without: { of: "dump", to: "calm_at_dump_rate" },
} as const satisfies Record<string, { of: Phase; to: Phase }>;

export type CalmRatioName = keyof typeof OVER_CALM;

/** Returns each phase's p99 relative to that of the calm of its round. */
export function ratiosToCalm(rounds: readonly Readonly<Record<Phase, Pick<SteadyRound[Phase], "p99_ms">>>[]): Record<CalmRatioName, Ratio> {
  const entries = Object.entries(OVER_CALM).map(([name, ratio]) => {
    const values = rounds.map((round) => round[ratio.of].p99_ms / round[ratio.to].p99_ms);
    return [name, { ...ratioOf(values), at_most: TARGETS.p99_over_calm }];
  });
  return Object.fromEntries(entries) as Record<CalmRatioName, Ratio>;
}

export function ratioOf(rounds: readonly number[]): Ratio {
  return { ...spreadOf(rounds), rounds };
}

/** What two builds are compared by. Of each, less is better, except of the rate. */
const COMPARED = [
  "product_cpu_ms_per_delivery",
  "wal_bytes_per_delivery",
  "vacuum_wal_bytes_per_delivery",
  "statements_per_delivery",
  "deliveries_per_second",
] as const;
export type ComparedName = (typeof COMPARED)[number];
export type ComparedBurst = Pick<Burst, ComparedName>;

/** Returns the figures of this build relative to those of the other one in the same round. */
export function ratiosToOther(rounds: readonly Readonly<Record<"this" | "other", ComparedBurst>>[]): Record<ComparedName, Ratio> {
  const entries = COMPARED.map((name) => [name, ratioOf(rounds.map((round) => round.this[name] / round.other[name]))] as const);
  return Object.fromEntries(entries) as Record<ComparedName, Ratio>;
}
