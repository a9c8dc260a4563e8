import { requireEqualResponses } from "./equal-responses.ts";
import type { Backends, RecordsEnvironment } from "./environment.ts";
import type { Load, RunResult, VariantName } from "./load/start-load.ts";
import { cpuMs, machineBusyMs, postgresCpuMs } from "../harness/process-usage.ts";
import { FOREIGN_CORES_MAX, REPEATS_MAX, ROUND_SECONDS, WARM_UP_SECONDS } from "./settings.ts";
import type { Program } from "../harness/programs.ts";
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

export interface MeasureParts {
  readonly variants: readonly Variant[];
  readonly load: Load;
  readonly backends: Backends;
  readonly rounds: number;
  /** Programs of the benchmark besides those of the variants. */
  readonly others?: readonly Program[];
  /** How many disturbed turns are repeated. */
  readonly repeatsMax?: number;
  log(text: string): void;
}

/**
 * Warms up every variant, then measures them in turns, so that other load on the machine affects all alike. Repeats a
 * disturbed turn, up to `repeatsMax` times. Only the CPU use of other programs decides that, never the result.
 */
export async function measureRounds(parts: MeasureParts): Promise<Round[]> {
  const { variants, load, backends, rounds, others = [], repeatsMax = REPEATS_MAX, log } = parts;
  // Variants share programs.
  const everyPid = [...new Set([...others, ...variants.flatMap(({ programs }) => programs)].map(({ pid }) => pid))];
  const measure = async ({ name, programs, port }: Variant, seconds: number): Promise<Turn> => {
    const read = () => readUsage([...programs, load.program], everyPid, backends);
    await load.prepare({ variant: name, port });
    const before = await read();
    const result = await load.run({ variant: name, port, seconds });
    const after = await read();
    return turnOf(name, result, before, after);
  };
  let repeats = 0;
  const measureUndisturbed = async (variant: Variant): Promise<Turn> => {
    for (;;) {
      const turn = await measure(variant, ROUND_SECONDS);
      if (!isDisturbed(turn) || repeats === repeatsMax) return turn;
      repeats += 1;
      log(`  repeating ${variant.name}: other programs used ${turn.foreign_cores.toFixed(2)} cores`);
    }
  };

  for (const variant of variants) {
    log(`Warming up ${variant.name}`);
    await measure(variant, WARM_UP_SECONDS);
  }
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const turns: Turn[] = [];
    for (const variant of rotated(variants, measured.length)) turns.push(await measureUndisturbed(variant));
    measured.push({ turns, disturbed: turns.some(isDisturbed) });
    const rates = turns.map(({ variant, requests_per_second }) => `${variant} ${requests_per_second.toFixed(0)}/s`).toSorted();
    log(`Round ${measured.length} of ${rounds}: ${rates.join(", ")}`);
  }
  return measured;
}

interface PartsToMeasure extends Pick<RecordsEnvironment, "load" | "keys" | "backends"> {
  readonly rounds: number;
  readonly roundsPerPart: number;
  readonly repeatsPerPart: number;
  /** Programs of the benchmark besides those of the variants. */
  readonly others?: readonly Program[];
  startVariants(): Promise<Variant[]>;
  log(text: string): void;
}

/** Measures rounds in parts, each with new processes, so that no single process decides the result. Responses must be equal byte for byte. */
export async function measureInParts(parts: PartsToMeasure): Promise<Round[]> {
  const { load, keys, backends, rounds, roundsPerPart, repeatsPerPart: repeatsMax, others = [], log } = parts;
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const variants = await parts.startVariants();
    if (measured.length === 0) await requireEqualResponses(variants, keys);
    const programs = variants.flatMap((variant) => variant.programs);
    const left = Math.min(roundsPerPart, rounds - measured.length);
    const measuring = measureRounds({ variants, load, backends, others, rounds: left, repeatsMax, log });
    measured.push(...(await Promise.race([measuring, ...[load.program, ...others, ...programs].map((program) => program.ended)])));
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

const isDisturbed = ({ foreign_cores }: Turn): boolean => foreign_cores > FOREIGN_CORES_MAX;

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

interface Usage {
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly oursMs: number;
  readonly busyMs: number;
}

async function readUsage(named: Variant["programs"], everyPid: readonly number[], backends: Backends): Promise<Usage> {
  const [processes, others, postgres, redisMs, bench, busyMs] = await Promise.all([
    Promise.all(named.map(async ({ name, pid }) => [name, await cpuMs(pid)] as const)),
    Promise.all(everyPid.filter((pid) => !named.some((program) => program.pid === pid)).map(cpuMs)),
    postgresCpuMs(backends.postmaster),
    Promise.all(backends.redis.map(cpuMs)),
    cpuMs(process.pid),
    machineBusyMs(),
  ]);
  const byName = { ...Object.fromEntries(processes), postgres, redis: sumOf(redisMs) };
  const oursMs = sumOf([...Object.values(byName), ...others, bench]);
  return { cpuMs: byName, oursMs, busyMs };
}

function turnOf(variant: VariantName, result: RunResult, before: Usage, after: Usage): Turn {
  const perRequest = Object.entries(after.cpuMs).map(([name, ms]) => [name, (ms - (before.cpuMs[name] ?? 0)) / result.requests] as const);
  const foreignMs = after.busyMs - before.busyMs - (after.oursMs - before.oursMs);
  return {
    variant,
    ...result,
    requests_per_second: result.requests / result.seconds,
    cpu_ms_per_request: Object.fromEntries(perRequest),
    foreign_cores: Math.max(0, foreignMs / 1_000 / result.seconds),
  };
}
