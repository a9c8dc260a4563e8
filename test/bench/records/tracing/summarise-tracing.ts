import { medianInterval, type MedianInterval } from "../../statistics.ts";
import { cpuOf, turnIn, type Round, type Turn } from "../measure.ts";
import { TRACED, type TracedName } from "./traced.ts";

/** CPU time as a multiple of that of the same round without tracing, at most. */
const TARGETS = { traced_1: 1.03, traced_100: 1.08 } as const;

const PRODUCT = ["gateway", "records", "accounts"] as const;

export interface TracingCost {
  /** Milliseconds of CPU time per request. */
  readonly cpu_ms: MedianInterval;
  /** Relative to the same round without tracing. */
  readonly ratio: MedianInterval;
}

export interface TracedSummary {
  /** The product's processes together. */
  readonly product: TracingCost;
  /** The cost of each process, Postgres and Redis among them. */
  readonly processes: Readonly<Record<string, TracingCost>>;
  readonly requests_per_second_ratio: MedianInterval;
  readonly target: number | undefined;
  /** Whether the interval is not wholly above the target. */
  readonly met: boolean;
}

export interface TracingSummary {
  readonly pairs: number;
  readonly foreign_cores: MedianInterval;
  readonly variants: Readonly<Record<TracedName, TracedSummary>>;
}

export function summariseTracing(rounds: readonly Round[]): TracingSummary {
  const summaries = (Object.keys(TRACED) as TracedName[]).map((name) => [name, summaryOf(name, rounds)] as const);
  return {
    pairs: rounds.length,
    foreign_cores: medianInterval(rounds.flatMap(({ turns }) => turns.map((turn) => turn.foreign_cores))),
    variants: Object.fromEntries(summaries) as Record<TracedName, TracedSummary>,
  };
}

function summaryOf(name: TracedName, rounds: readonly Round[]): TracedSummary {
  const costOf = (cpu: (turn: Turn) => number): TracingCost => {
    const own = rounds.map((round) => cpu(turnIn(round, name)));
    return {
      cpu_ms: medianInterval(own),
      ratio: medianInterval(own.map((ms, index) => ms / cpu(turnIn(rounds[index] as Round, "untraced")))),
    };
  };
  const processes = [...PRODUCT, "postgres", "redis"].map((process) => [process, costOf((turn) => cpuOf(turn, [process]))] as const);
  const product = costOf((turn) => cpuOf(turn, PRODUCT));
  const rates = rounds.map((round) => turnIn(round, name).requests_per_second / turnIn(round, "untraced").requests_per_second);
  const target = name === "untraced" ? undefined : TARGETS[name];
  return {
    product,
    processes: Object.fromEntries(processes),
    requests_per_second_ratio: medianInterval(rates),
    target,
    met: target === undefined || product.ratio.low <= target,
  };
}
