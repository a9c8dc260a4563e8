import { spreadOf } from "../harness/statistics.ts";
import { burst } from "../webhooks/burst.ts";
import { callAtPace } from "../webhooks/steady.ts";
import type { WebhookProduct } from "../webhooks/product.ts";
import type { Receivers } from "../webhooks/receivers.ts";
import { RATE_PER_SECOND, RECEIVERS } from "../webhooks/settings.ts";
import { PROCESS_COUNTS, PROCESS_ROUNDS } from "./settings.ts";

export interface ProcessCount {
  readonly processes: number;
  readonly deliveries_per_second: number;
  /** Sum over all webhook processes. */
  readonly webhook_cpu_ms_per_delivery: number;
  readonly postgres_cpu_ms_per_delivery: number;
}

/** Measures bursts with one, two and four webhook processes in turn. A burst before each warms up what has just started. */
export async function measureProcesses(
  product: WebhookProduct,
  receivers: Receivers,
  log: (text: string) => void,
): Promise<ProcessCount[]> {
  const rounds: ProcessCount[] = [];
  for (let round = 1; round <= PROCESS_ROUNDS; round += 1) {
    for (const processes of PROCESS_COUNTS) {
      await product.runWebhooks(processes);
      await burst(product, receivers);
      const measured = await burst(product, receivers);
      const { webhook, postgres } = measured.cpu_ms_per_delivery;
      rounds.push({
        processes,
        deliveries_per_second: measured.deliveries_per_second,
        webhook_cpu_ms_per_delivery: webhook,
        postgres_cpu_ms_per_delivery: postgres,
      });
      log(`    ${processes} processes: ${Math.round(measured.deliveries_per_second)}/s, ${webhook.toFixed(3)} ms of webhook's CPU each`);
    }
  }
  await product.runWebhooks(1);
  return PROCESS_COUNTS.map((processes) => medianOf(rounds.filter((round) => round.processes === processes)));
}

function medianOf(rounds: readonly ProcessCount[]): ProcessCount {
  const names = Object.keys(rounds[0] ?? {}) as (keyof ProcessCount)[];
  return Object.fromEntries(names.map((name) => [name, spreadOf(rounds.map((round) => round[name])).median])) as unknown as ProcessCount;
}

export interface MemoryAfterLoad {
  readonly minutes: number;
  /** Resident MiB before the load, after its first tenth, and at its end. */
  readonly start: Readonly<Record<"webhook" | "records", number>>;
  readonly after_a_tenth: Readonly<Record<"webhook" | "records", number>>;
  readonly end: Readonly<Record<"webhook" | "records", number>>;
  readonly peak: Readonly<Record<"webhook" | "records", number>>;
}

/** Measures memory over minutes of steady load: what still grows between the first tenth and the end is kept, not warming up. */
export async function measureMemory(product: WebhookProduct, receivers: Receivers, minutes: number): Promise<MemoryAfterLoad> {
  await receivers.begin();
  const read = async (which: "now" | "peak") => {
    const { webhook, records } = await product.memory();
    return { webhook: webhook[which], records: records[which] };
  };
  const load = (seconds: number) =>
    callAtPace({ perSecond: RATE_PER_SECOND, seconds }, (number) => product.outbox.change(number % RECEIVERS));
  const start = await read("now");
  await load(minutes * 6);
  const after_a_tenth = await read("now");
  await load(minutes * 54);
  const [end, peak] = [await read("now"), await read("peak")];
  await product.untilIdle();
  return { minutes, start, after_a_tenth, end, peak };
}
