import type { DeepPage } from "./deep-page.ts";
import type { VariantName } from "./load/start-load.ts";
import type { Round, Turn } from "./measure.ts";
import { DEEP_OVER_FIRST, RATE_RATIOS, type Target } from "./settings.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";

/** The fewest undisturbed rounds for a meaningful median. */
const ROUNDS_MIN = 3;

export interface VariantSummary {
  readonly requests_per_second: Spread;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Medians over the rounds, by process, including the load generator. */
  readonly cpu_ms_per_request: Readonly<Record<string, number>>;
  /** Resident memory after the last round, by process. */
  readonly memory_mib: Readonly<Record<string, number>>;
}

export interface Ratio extends Spread {
  readonly target: Target;
  readonly met: boolean;
}

export interface Summary {
  /** Number of rounds in the figures. */
  readonly rounds_counted: number;
  /** Fewer than three rounds were undisturbed, so all were counted. */
  readonly disturbed: boolean;
  readonly variants: ByVariant<VariantSummary>;
  readonly ratios: Readonly<Record<string, Ratio>>;
  /** Cores used by other programs in the counted turns. */
  readonly foreign_cores: Spread;
}

/** Has the measured variants only. */
type ByVariant<T> = Readonly<Partial<Record<VariantName, T>>>;

/** MiB by process. */
export type Memory = ByVariant<Readonly<Record<string, number>>>;

export function summarise(rounds: readonly Round[], deep: DeepPage, memory: Memory): Summary {
  const undisturbed = rounds.filter((round) => !round.disturbed);
  const disturbed = undisturbed.length < Math.min(ROUNDS_MIN, rounds.length);
  const turns = (disturbed ? rounds : undisturbed).flatMap((round) => round.turns);
  const of = (variant: VariantName): readonly Turn[] => turns.filter((turn) => turn.variant === variant);
  const names = [...new Set(turns.map(({ variant }) => variant))];
  const ratios = Object.entries(RATE_RATIOS).map(
    ([name, ratio]) => [name, judge(ratio, spreadOf(rateRatios(of(ratio.of), of(ratio.to))))] as const,
  );
  return {
    rounds_counted: turns.length / names.length,
    disturbed,
    variants: Object.fromEntries(names.map((name) => [name, summaryOf(of(name), memory[name] ?? {})])),
    ratios: { ...Object.fromEntries(ratios), deep_over_first: judge(DEEP_OVER_FIRST, spreadOf([deep.time_ratio])) },
    foreign_cores: spreadOf(turns.map((turn) => turn.foreign_cores)),
  };
}

function summaryOf(turns: readonly Turn[], memory: VariantSummary["memory_mib"]): VariantSummary {
  return {
    requests_per_second: spreadOf(turns.map((turn) => turn.requests_per_second)),
    p50_ms: spreadOf(turns.map((turn) => turn.p50_ms)).median,
    p99_ms: spreadOf(turns.map((turn) => turn.p99_ms)).median,
    cpu_ms_per_request: cpuOf(turns),
    memory_mib: memory,
  };
}

/** Compares round by round, because both variants then met the same load on the machine. */
function rateRatios(turns: readonly Turn[], others: readonly Turn[]): number[] {
  return turns.map((turn, round) => turn.requests_per_second / (others[round]?.requests_per_second ?? Number.NaN));
}

function judge(target: Target, spread: Spread): Ratio {
  const { atLeast = -Infinity, atMost = Infinity } = target;
  return { ...spread, target, met: spread.median >= atLeast && spread.median <= atMost };
}

function cpuOf(turns: readonly Turn[]): Record<string, number> {
  const names = Object.keys(turns[0]?.cpu_ms_per_request ?? {});
  return Object.fromEntries(names.map((name) => [name, spreadOf(turns.map((turn) => turn.cpu_ms_per_request[name] ?? 0)).median]));
}
