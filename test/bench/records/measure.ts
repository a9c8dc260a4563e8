import { requireEqualResponses } from "./equal-responses.ts";
import type { Backends, RecordsEnvironment } from "./environment.ts";
import type { Load, RunResult, VariantName } from "./load/start-load.ts";
import { isDisturbed, Repeats } from "../harness/foreign-cores.ts";
import { cpuMs, postgresCpuMs } from "../harness/process-usage.ts";
import { REPEATS_MAX, ROUND_SECONDS, WARM_UP_SECONDS } from "./settings.ts";
import { sumOf } from "../harness/statistics.ts";
import type { Variant } from "./variants.ts";

/** The measurement of one variant in one round. */
export interface Turn extends RunResult {
  readonly variant: VariantName;
  readonly requests_per_second: number;
  /** Milliseconds of CPU time per request, by process. */
  readonly cpu_ms_per_request: Readonly<Record<string, number>>;
  /** Cores used by processes outside the benchmark. */
  readonly foreign_cores: number;
}

export interface Round {
  readonly turns: readonly Turn[];
  /** Whether other programs used the CPU in a turn: the turns then cannot be compared. */
  readonly disturbed: boolean;
}

export interface MeasureParts extends Pick<RecordsEnvironment, "watchForeign"> {
  readonly variants: readonly Variant[];
  readonly load: Load;
  readonly backends: Backends;
  readonly rounds: number;
  /** How many disturbed turns are repeated. */
  readonly repeatsMax?: number;
  log(text: string): void;
}

/**
 * Warms up every variant, then measures them in turns, so that other load on the machine affects all alike. Repeats a
 * disturbed turn, up to `repeatsMax` times.
 */
export async function measureRounds(parts: MeasureParts): Promise<Round[]> {
  const { variants, load, backends, rounds, watchForeign, repeatsMax = REPEATS_MAX, log } = parts;
  const measure = async ({ name, programs, port }: Variant, seconds: number): Promise<Turn> => {
    const read = () => readUsage([...programs, load.program], backends);
    await load.prepare({ variant: name, port });
    const before = await read();
    const foreignCores = await watchForeign();
    const result = await load.run({ variant: name, port, seconds });
    const foreign_cores = await foreignCores();
    return { ...turnOf(name, result, before, await read()), foreign_cores };
  };
  const repeats = new Repeats(repeatsMax, log);

  for (const variant of variants) {
    log(`Warming up ${variant.name}`);
    await measure(variant, WARM_UP_SECONDS);
  }
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const turns: Turn[] = [];
    for (const variant of rotated(variants, measured.length)) {
      turns.push(await repeats.undisturbed(variant.name, () => measure(variant, ROUND_SECONDS)));
    }
    measured.push({ turns, disturbed: turns.some(isDisturbed) });
    const rates = turns.map(({ variant, requests_per_second }) => `${variant} ${requests_per_second.toFixed(0)}/s`).toSorted();
    log(`Round ${measured.length} of ${rounds}: ${rates.join(", ")}`);
  }
  return measured;
}

interface PartsToMeasure extends Pick<RecordsEnvironment, "load" | "keys" | "backends" | "watchForeign"> {
  readonly rounds: number;
  readonly roundsPerPart: number;
  readonly repeatsPerPart: number;
  startVariants(): Promise<Variant[]>;
  log(text: string): void;
}

/** Measures rounds in parts, each with new processes, so that no single process decides the result. Responses must be equal byte for byte. */
export async function measureInParts(parts: PartsToMeasure): Promise<Round[]> {
  const { keys, rounds, roundsPerPart, repeatsPerPart: repeatsMax } = parts;
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const variants = await parts.startVariants();
    if (measured.length === 0) await requireEqualResponses(variants, keys);
    const programs = variants.flatMap((variant) => variant.programs);
    const left = Math.min(roundsPerPart, rounds - measured.length);
    measured.push(...(await measureRounds({ ...parts, variants, rounds: left, repeatsMax })));
    await Promise.all(programs.map((program) => program.stop()));
  }
  return measured;
}

/** @throws if the round has no turn of the variant */
export function turnIn({ turns }: Round, variant: VariantName): Turn {
  const turn = turns.find((each) => each.variant === variant);
  if (turn === undefined) throw new Error(`a round without ${variant}`);
  return turn;
}

/** Sums milliseconds per request of the processes. Their names may have the variant's as a suffix. */
export function cpuOf({ variant, cpu_ms_per_request }: Turn, processes: readonly string[]): number {
  return processes.reduce((sum, name) => sum + (cpu_ms_per_request[name] ?? cpu_ms_per_request[`${name}-${variant}`] ?? 0), 0);
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/** CPU time by process, in milliseconds. */
type Usage = Readonly<Record<string, number>>;

async function readUsage(named: Variant["programs"], backends: Backends): Promise<Usage> {
  const [processes, postgres, redisMs] = await Promise.all([
    Promise.all(named.map(async ({ name, pid }) => [name, await cpuMs(pid)] as const)),
    postgresCpuMs(backends.postmaster),
    Promise.all(backends.redis.map(cpuMs)),
  ]);
  return { ...Object.fromEntries(processes), postgres, redis: sumOf(redisMs) };
}

function turnOf(variant: VariantName, result: RunResult, before: Usage, after: Usage): Omit<Turn, "foreign_cores"> {
  const perRequest = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / result.requests] as const);
  return {
    variant,
    ...result,
    requests_per_second: result.requests / result.seconds,
    cpu_ms_per_request: Object.fromEntries(perRequest),
  };
}
