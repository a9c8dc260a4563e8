import type { BuildName } from "../../build.ts";
import { spreadOf, type Spread } from "../../statistics.ts";
import { cpuOf, turnIn, type Round, type Turn } from "../measure.ts";

/** What two builds are compared by. Of each, less is better, except of the rate. CPU time is in milliseconds per request. */
const FIGURES = {
  gateway_and_records_cpu_ms: (turn) => cpuOf(turn, ["gateway", "records"]),
  gateway_cpu_ms: (turn) => cpuOf(turn, ["gateway"]),
  records_cpu_ms: (turn) => cpuOf(turn, ["records"]),
  accounts_cpu_ms: (turn) => cpuOf(turn, ["accounts"]),
  postgres_cpu_ms: (turn) => cpuOf(turn, ["postgres"]),
  redis_cpu_ms: (turn) => cpuOf(turn, ["redis"]),
  requests_per_second: (turn) => turn.requests_per_second,
  p50_ms: (turn) => turn.p50_ms,
  p99_ms: (turn) => turn.p99_ms,
} as const satisfies Record<string, (turn: Turn) => number>;

export type FigureName = keyof typeof FIGURES;

export interface ComparedFigure {
  readonly this: Spread;
  readonly other: Spread;
  /** This build's figure over the other's in the same round. */
  readonly ratio: Spread;
}

export interface ComparisonSummary {
  readonly rounds: number;
  /** Cores used by programs outside the benchmark. */
  readonly foreign_cores: Spread;
  readonly figures: Readonly<Record<FigureName, ComparedFigure>>;
}

/** Compares round by round, because both builds then met the same load on the machine. */
export function summariseComparison(rounds: readonly Round[]): ComparisonSummary {
  const figures = Object.entries(FIGURES).map(([name, figure]) => {
    const of = (build: BuildName): number[] => rounds.map((round) => figure(turnIn(round, build)));
    const [own, others] = [of("this"), of("other")];
    const ratios = own.map((value, round) => value / (others[round] ?? Number.NaN));
    return [name, { this: spreadOf(own), other: spreadOf(others), ratio: spreadOf(ratios) }] as const;
  });
  return {
    rounds: rounds.length,
    foreign_cores: spreadOf(rounds.flatMap(({ turns }) => turns.map((turn) => turn.foreign_cores))),
    figures: Object.fromEntries(figures) as Record<FigureName, ComparedFigure>,
  };
}
