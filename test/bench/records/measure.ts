import type { RunResult, VariantName } from "./load/messages.ts";
import type { Load } from "./load/start-load.ts";
import { cpuMs, machineBusyMs, postgresCpuMs } from "./process-usage.ts";
import { ROUND_SECONDS, WARM_UP_SECONDS } from "./settings.ts";
import type { Variant } from "./variants.ts";

export interface Round extends RunResult {
  readonly variant: VariantName;
  readonly requests_per_second: number;
  /** Milliseconds of CPU time per request, by process. */
  readonly cpu_ms_per_request: Readonly<Record<string, number>>;
  /** Of the machine's cores, used by processes that have nothing to do with the benchmark. */
  readonly foreign_cores: number;
}

export interface Backends {
  readonly postmaster: number;
  readonly redis: number;
}

export interface MeasureParts {
  readonly variants: readonly Variant[];
  readonly load: Load;
  readonly backends: Backends;
  readonly rounds: number;
  say(text: string): void;
}

/** Warms every variant up, then measures them in turns, so that whatever the machine does meanwhile hits all alike. */
export async function measureRounds({ variants, load, backends, rounds, say }: MeasureParts): Promise<Round[]> {
  const everyPid = variants.flatMap(({ programs }) => programs.map(({ pid }) => pid));
  const measure = async ({ name, programs, port }: Variant, seconds: number): Promise<Round> => {
    const read = () => readUsage([...programs, load.program], everyPid, backends);
    const before = await read();
    const result = await load.run({ variant: name, port, seconds });
    const after = await read();
    return roundOf(name, result, before, after);
  };

  for (const variant of variants) {
    say(`Warming up ${variant.name}`);
    await measure(variant, WARM_UP_SECONDS);
  }
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < variants.length; turn += 1) {
      const variant = variants[(round + turn) % variants.length] as Variant;
      const result = await measure(variant, ROUND_SECONDS);
      measured.push(result);
      say(`Round ${round + 1} of ${rounds}  ${variant.name.padEnd(8)} ${result.requests_per_second.toFixed(0)} requests/s`);
    }
  }
  return measured;
}

interface Usage {
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly oursMs: number;
  readonly busyMs: number;
}

async function readUsage(named: Variant["programs"], everyPid: readonly number[], backends: Backends): Promise<Usage> {
  const [processes, others, postgres, redis, bench, busyMs] = await Promise.all([
    Promise.all(named.map(async ({ name, pid }) => [name, await cpuMs(pid)] as const)),
    Promise.all(everyPid.filter((pid) => !named.some((program) => program.pid === pid)).map(cpuMs)),
    postgresCpuMs(backends.postmaster),
    cpuMs(backends.redis),
    cpuMs(process.pid),
    machineBusyMs(),
  ]);
  const byName = { ...Object.fromEntries(processes), postgres, redis };
  const oursMs = [...Object.values(byName), ...others, bench].reduce((total, ms) => total + ms, 0);
  return { cpuMs: byName, oursMs, busyMs };
}

function roundOf(variant: VariantName, result: RunResult, before: Usage, after: Usage): Round {
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
