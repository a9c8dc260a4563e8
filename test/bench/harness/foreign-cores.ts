import { sumOf } from "./statistics.ts";
import { cpuMs, machineBusyMs, postgresCpuMs } from "./process-usage.ts";

/** Cores that other programs may use: with more, a measurement is repeated. */
export const FOREIGN_CORES_MAX = 0.1;

interface Disturbable {
  /** Cores that programs outside the run used. */
  readonly foreign_cores: number;
}

export const isDisturbed = ({ foreign_cores }: Disturbable): boolean => foreign_cores > FOREIGN_CORES_MAX;

/** Process ids of a run, besides the benchmark's own. */
export interface RunProcesses {
  readonly programs: readonly { readonly pid: number }[];
  readonly servers: readonly number[];
  readonly postmasters: readonly number[];
}

/** Returns a function that returns how many cores programs outside the run have used since. */
export async function watchForeign({ programs, servers, postmasters }: RunProcesses): Promise<() => Promise<number>> {
  const read = async () => {
    const pids = [process.pid, ...servers, ...programs.map(({ pid }) => pid)];
    const [own, postgres, busyMs] = await Promise.all([
      // One that has ended uses nothing.
      Promise.all(pids.map((pid) => cpuMs(pid).catch(() => 0))),
      Promise.all(postmasters.map(postgresCpuMs)),
      machineBusyMs(),
    ]);
    return { foreignMs: busyMs - sumOf(own) - sumOf(postgres), at: performance.now() };
  };
  const before = await read();
  return async () => {
    const after = await read();
    return Math.max(0, after.foreignMs - before.foreignMs) / (after.at - before.at);
  };
}

/** Repeats what other programs disturbed, up to `max` times in all. Only their use of the CPU decides that, never the result. */
export class Repeats {
  /** What was repeated, and why. */
  readonly done: string[] = [];
  readonly #max: number;
  readonly #log: (text: string) => void;

  constructor(max: number, log: (text: string) => void) {
    this.#max = max;
    this.#log = log;
  }

  /** @param prepare runs before each repetition */
  async undisturbed<T extends Disturbable>(name: string, measure: () => Promise<T>, prepare = async (): Promise<void> => {}): Promise<T> {
    for (;;) {
      const measured = await measure();
      if (!isDisturbed(measured) || this.done.length === this.#max) return measured;
      this.done.push(`${name}: other programs used ${measured.foreign_cores.toFixed(2)} cores`);
      this.#log(`  repeating ${this.done.at(-1)}`);
      await prepare();
    }
  }
}
