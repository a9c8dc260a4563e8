import { cpuMs, machineBusyMs } from "../harness/process-usage.ts";
import { readCounters, resetCounters, waitForCount, withoutAutovacuum } from "./database-state.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import type { Receivers } from "./receivers.ts";
import { DELIVERIES } from "./settings.ts";

export interface Burst {
  readonly deliveries_per_second: number;
  readonly statements_per_delivery: number;
  /** Without the platform's insert. Each page's first change after a checkpoint, just before the insert, logs the whole page. */
  readonly wal_bytes_per_delivery: number;
  readonly wal_full_pages_per_delivery: number;
  /** Logged by the vacuum after the burst: what its dead and new rows cost later. */
  readonly vacuum_wal_bytes_per_delivery: number;
  readonly longest_claim_ms: number;
  readonly cpu_ms_per_delivery: Usage;
  /** webhook, records and Postgres: what the build itself decides. */
  readonly product_cpu_ms_per_delivery: number;
  readonly foreign_cores: number;
}

const STUCK_MS = 60_000;

/** Measures from the commit of many changes to the last recorded 2xx. */
export function burst(product: WebhookProduct, receivers: Receivers): Promise<Burst> {
  return withoutAutovacuum(product.client, () => measureBurst(product, receivers));
}

async function measureBurst(product: WebhookProduct, receivers: Receivers): Promise<Burst> {
  await receivers.begin();
  await product.settle();
  const commit = await product.outbox.fill(DELIVERIES);
  const before = await product.delivered();
  await resetCounters(product.client);
  const { walBytes } = await readCounters(product.client);
  const machine = await watchMachine(product);
  const startedAt = performance.now();
  await commit();
  // Counting arrivals costs Postgres nothing; the last result is recorded within milliseconds of the last arrival.
  await Promise.race([waitForCount(async () => (await receivers.count()).arrived, DELIVERIES, STUCK_MS), product.ended]);
  await product.untilDelivered(before + DELIVERIES);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = await machine();
  const counters = await readCounters(product.client);
  const { webhook, records, postgres } = used.usage;
  await product.untilIdle();
  await product.vacuum();
  const { walBytes: walBytesAfterVacuum } = await readCounters(product.client);
  return {
    deliveries_per_second: DELIVERIES / seconds,
    statements_per_delivery: counters.statements / DELIVERIES,
    wal_bytes_per_delivery: (counters.walBytes - walBytes) / DELIVERIES,
    wal_full_pages_per_delivery: counters.walFullPages / DELIVERIES,
    vacuum_wal_bytes_per_delivery: (walBytesAfterVacuum - counters.walBytes) / DELIVERIES,
    longest_claim_ms: counters.longestClaimMs,
    cpu_ms_per_delivery: perDelivery(used.usage),
    product_cpu_ms_per_delivery: (webhook + records + postgres) / DELIVERIES,
    foreign_cores: foreignCores(used),
  };
}

const perDelivery = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, ms]) => [name, ms / DELIVERIES])) as Usage;

interface MachineUse {
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
