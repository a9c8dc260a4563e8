import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Program, ProgramOptions } from "../program.ts";
import { quantile, spreadOf } from "../statistics.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import type { Receivers } from "./receivers.ts";
import { BACKLOG, DELIVERIES, HANGING, RATE_PER_SECOND, RATE_SECONDS, RECEIVERS, ROUNDS } from "./settings.ts";

export interface WebhookResult {
  /** Requests per second of the bare loop. */
  readonly limit_per_second: number;
  readonly deliveries_per_second: number;
  readonly product_over_limit: number;
  readonly statements_per_delivery: number;
  /** Time from change to arrival, at a steady rate. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly healthy_p99_with_hanging_ms: number;
  readonly healthy_p99_with_hanging_over_without: number;
  readonly others_p99_with_backlog_ms: number;
  readonly others_p99_with_backlog_over_without: number;
  /** Seconds that the changes of each phase took. Above RATE_SECONDS_MAX the machine has not kept the rate, and the phase is not to be trusted. */
  readonly seconds_at_rate: Readonly<Record<Phase, number>>;
  /** Requests by receiver meanwhile; the first one has the backlog. */
  readonly arrivals_with_backlog: readonly number[];
  readonly cpu_ms_per_delivery: Usage;
  readonly rounds: readonly { readonly limit_per_second: number; readonly deliveries_per_second: number }[];
}

export type Phase = "calm" | "backlog" | "hanging";

export interface MeasureParts {
  readonly product: WebhookProduct;
  readonly receivers: Receivers;
  readonly start: (program: ProgramOptions) => Program;
  readonly log: (text: string) => void;
}

export async function measure({ product, receivers, start, log }: MeasureParts): Promise<WebhookResult> {
  const rounds: { limit_per_second: number; deliveries_per_second: number; statements: number; usage: Usage }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const limit_per_second = await bareLoop(receivers, start);
    const { seconds, statements, usage } = await burst(product, receivers);
    const deliveries_per_second = DELIVERIES / seconds;
    rounds.push({ limit_per_second, deliveries_per_second, statements, usage });
    log(`  round ${round}: undici ${Math.round(limit_per_second)}/s, product ${Math.round(deliveries_per_second)}/s`);
  }
  const calm = await steady(product, receivers, {});
  log(`  at ${RATE_PER_SECOND}/s: p99 ${calm.p99} ms`);
  await product.fallBehind(0, BACKLOG);
  const behind = await steady(product, receivers, { unmeasured: [0] });
  log(`  with one receiver ${BACKLOG.toLocaleString("en")} behind: p99 of the others ${behind.p99} ms`);
  await product.deleteBacklog(0);
  // Last: the circuits of hanging receivers stay open for minutes.
  const hanging = Array.from({ length: HANGING }, (_, index) => RECEIVERS - 1 - index);
  const withHanging = await steady(product, receivers, { hanging, unmeasured: hanging });
  log(`  with ${HANGING} of ${RECEIVERS} hanging: p99 of the others ${withHanging.p99} ms`);

  const median = (of: (round: (typeof rounds)[number]) => number): number => spreadOf(rounds.map(of)).median;
  const names = ["webhook", "records", "postgres", "kafka", "receivers"] as const;
  return {
    limit_per_second: median((round) => round.limit_per_second),
    deliveries_per_second: median((round) => round.deliveries_per_second),
    product_over_limit: median((round) => round.deliveries_per_second / round.limit_per_second),
    statements_per_delivery: median((round) => round.statements / DELIVERIES),
    p50_ms: calm.p50,
    p99_ms: calm.p99,
    healthy_p99_with_hanging_ms: withHanging.p99,
    healthy_p99_with_hanging_over_without: withHanging.p99 / calm.p99,
    others_p99_with_backlog_ms: behind.p99,
    others_p99_with_backlog_over_without: behind.p99 / calm.p99,
    seconds_at_rate: { calm: calm.seconds, backlog: behind.seconds, hanging: withHanging.seconds },
    arrivals_with_backlog: behind.arrived,
    cpu_ms_per_delivery: Object.fromEntries(names.map((name) => [name, median(({ usage }) => usage[name] / DELIVERIES)])) as Usage,
    rounds: rounds.map(({ limit_per_second, deliveries_per_second }) => ({ limit_per_second, deliveries_per_second })),
  };
}

async function bareLoop(receivers: Receivers, start: MeasureParts["start"]): Promise<number> {
  await receivers.begin();
  const program = start({ name: "limit", script: join(import.meta.dirname, "limit-main.js"), env: { PORTS: receivers.ports.join(",") } });
  const { perSecond } = (await program.ready) as { perSecond: number };
  await program.stop();
  return perSecond;
}

/** Measures from the commit of many changes to the last recorded 2xx. */
async function burst(product: WebhookProduct, receivers: Receivers): Promise<{ seconds: number; statements: number; usage: Usage }> {
  await receivers.begin();
  const before = await product.delivered();
  await product.resetStatements();
  const usedBefore = await product.usage();
  await product.change(DELIVERIES);
  const startedAt = performance.now();
  await product.untilDelivered(before + DELIVERIES);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = await product.usage();
  const usage = Object.fromEntries(Object.entries(used).map(([name, ms]) => [name, ms - usedBefore[name as keyof Usage]])) as Usage;
  const { arrived } = await receivers.report();
  const total = arrived.reduce((sum, count) => sum + count, 0);
  if (total < DELIVERIES) throw new Error(`${DELIVERIES} deliveries recorded, but ${total} arrived`);
  return { seconds, statements: await product.statements(), usage };
}

/** Commits a change every few milliseconds, each in its own transaction, whether those before have ended or not. */
async function steady(
  product: WebhookProduct,
  receivers: Receivers,
  behavior: Parameters<Receivers["begin"]>[0] & object,
): Promise<{ p50: number; p99: number; seconds: number; arrived: readonly number[] }> {
  await receivers.begin(behavior);
  const startedAt = performance.now();
  const total = RATE_PER_SECOND * RATE_SECONDS;
  const changes: Promise<void>[] = [];
  for (let count = 0; count < total; count += 1) {
    changes.push(product.changeOne(count % RECEIVERS));
    const early = ((count + 1) / RATE_PER_SECOND) * 1_000 - (performance.now() - startedAt);
    if (early > 1) await pause(early);
  }
  await Promise.all(changes);
  const seconds = (performance.now() - startedAt) / 1_000;
  const expected = total * (1 - (behavior.unmeasured?.length ?? 0) / RECEIVERS);
  let report = await receivers.report();
  for (const deadline = performance.now() + 30_000; report.latenciesMs.length < expected && performance.now() < deadline; await pause(50)) {
    report = await receivers.report();
  }
  if (report.latenciesMs.length < expected) throw new Error(`${expected} events expected, ${report.latenciesMs.length} arrived`);
  const sorted = report.latenciesMs.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), seconds, arrived: report.arrived };
}
