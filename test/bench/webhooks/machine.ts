import { cpuMs, machineBusyMs } from "../process-usage.ts";
import type { Usage, WebhookProduct } from "./product.ts";

export interface MachineUse {
  /** CPU time of the run's processes meanwhile, in milliseconds. */
  readonly usage: Usage;
  readonly benchMs: number;
  readonly machineMs: number;
  readonly elapsedMs: number;
}

/** Returns a function that returns what was used since. */
export async function watchMachine(product: WebhookProduct): Promise<() => Promise<MachineUse>> {
  const read = async () => ({
    usage: await product.usage(),
    benchMs: await cpuMs(process.pid),
    machineMs: await machineBusyMs(),
    at: performance.now(),
  });
  const before = await read();
  return async () => {
    const after = await read();
    const names = Object.keys(after.usage) as (keyof Usage)[];
    return {
      usage: Object.fromEntries(names.map((name) => [name, after.usage[name] - before.usage[name]])) as Usage,
      benchMs: after.benchMs - before.benchMs,
      machineMs: after.machineMs - before.machineMs,
      elapsedMs: after.at - before.at,
    };
  };
}

/** Returns the cores that programs outside this run used. */
export function foreignCores({ usage, benchMs, machineMs, elapsedMs }: MachineUse): number {
  const own = benchMs + Object.values(usage).reduce((sum, ms) => sum + ms, 0);
  return Math.max(0, machineMs - own) / elapsedMs;
}
