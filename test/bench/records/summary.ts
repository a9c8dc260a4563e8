import type { DeepPage } from "./deep-page.ts";
import type { VariantName } from "./load/messages.ts";
import type { Round, Turn } from "./measure.ts";
import { TARGETS } from "./settings.ts";
import { spreadOf, type Spread } from "./statistics.ts";

/** With fewer undisturbed rounds than this a median says nothing. */
const ROUNDS_MIN = 3;

export interface VariantSummary {
  readonly requests_per_second: Spread;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Medians over the rounds, by process, the load generator included. */
  readonly cpu_ms_per_request: Readonly<Record<string, number>>;
  /** Resident memory after the last round, by process. */
  readonly memory_mib: Readonly<Record<string, number>>;
}

export interface Ratio extends Spread {
  readonly target: { readonly atLeast?: number; readonly atMost?: number };
  readonly met: boolean;
}

export interface Summary {
  /** Rounds the figures are of. */
  readonly rounds_counted: number;
  /** Fewer than three rounds were undisturbed, so all were counted. */
  readonly disturbed: boolean;
  readonly variants: Readonly<Record<VariantName, VariantSummary>>;
  readonly ratios: Readonly<Record<keyof typeof TARGETS, Ratio>>;
  /** Of the machine's cores, taken by others in the turns that were counted. */
  readonly foreign_cores: Spread;
}

/** MiB by variant and process. */
export type Memory = Readonly<Record<VariantName, Readonly<Record<string, number>>>>;

export function summarise(rounds: readonly Round[], deep: DeepPage, memory: Memory): Summary {
  const undisturbed = rounds.filter((round) => !round.disturbed);
  const disturbed = undisturbed.length < Math.min(ROUNDS_MIN, rounds.length);
  const turns = (disturbed ? rounds : undisturbed).flatMap((round) => round.turns);
  const of = (variant: VariantName): readonly Turn[] => turns.filter((turn) => turn.variant === variant);
  const variant = (name: VariantName): VariantSummary => ({
    requests_per_second: spreadOf(of(name).map((turn) => turn.requests_per_second)),
    p50_ms: spreadOf(of(name).map((turn) => turn.p50_ms)).median,
    p99_ms: spreadOf(of(name).map((turn) => turn.p99_ms)).median,
    cpu_ms_per_request: cpuOf(of(name)),
    memory_mib: memory[name],
  });
  /** Round by round: what the machine was like then was so for both. */
  const productOver = (other: VariantName): Spread =>
    spreadOf(of("product").map((turn, index) => turn.requests_per_second / (of(other)[index]?.requests_per_second ?? Number.NaN)));
  return {
    rounds_counted: of("product").length,
    disturbed,
    variants: { single: variant("single"), bare: variant("bare"), product: variant("product") },
    ratios: {
      product_over_bare: judge("product_over_bare", productOver("bare")),
      product_over_single: judge("product_over_single", productOver("single")),
      deep_over_first: judge("deep_over_first", spreadOf([deep.time_ratio])),
    },
    foreign_cores: spreadOf(turns.map((turn) => turn.foreign_cores)),
  };
}

function judge(name: keyof typeof TARGETS, spread: Spread): Ratio {
  const target: Ratio["target"] = TARGETS[name];
  const met = spread.median >= (target.atLeast ?? -Infinity) && spread.median <= (target.atMost ?? Infinity);
  return { ...spread, target, met };
}

function cpuOf(turns: readonly Turn[]): Record<string, number> {
  const names = Object.keys(turns[0]?.cpu_ms_per_request ?? {});
  return Object.fromEntries(names.map((name) => [name, spreadOf(turns.map((turn) => turn.cpu_ms_per_request[name] ?? 0)).median]));
}
