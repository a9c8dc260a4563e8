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
  const usedBefore = await product.usage();
  const foreignCores = await product.watchForeign();
  const startedAt = performance.now();
  await commit();
  // Counting arrivals costs Postgres nothing; the last result is recorded within milliseconds of the last arrival.
  await waitForCount(async () => (await receivers.count()).arrived, DELIVERIES, STUCK_MS);
  await product.untilDelivered(before + DELIVERIES);
  const seconds = (performance.now() - startedAt) / 1_000;
  const foreign_cores = await foreignCores();
  const used = perDelivery(usedBefore, await product.usage());
  const counters = await readCounters(product.client);
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
    cpu_ms_per_delivery: used,
    product_cpu_ms_per_delivery: used.webhook + used.records + used.postgres,
    foreign_cores,
  };
}

function perDelivery(before: Usage, after: Usage): Usage {
  const names = Object.keys(after) as (keyof Usage)[];
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / DELIVERIES])) as Usage;
}
