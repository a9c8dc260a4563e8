import { join } from "node:path";
import { isDisturbed, Repeats } from "../harness/foreign-cores.ts";
import { type Ratio, ratioOf, type Spread, spreadOf } from "../harness/statistics.ts";
import { burst, type Burst } from "./burst.ts";
import type { WebhookEnvironment } from "./environment.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import { RATE_PER_SECOND, REPEATS_MAX, ROUNDS, TARGETS } from "./settings.ts";
import { backlogRate, type Phase, type SteadyRound, steadyRound } from "./steady-round.ts";

/** Each disturbed phase with the calm of the same round and the same rate. */
const OVER_CALM = {
  healthy_p99_with_hanging_over_without: { of: "hanging", to: "calm" },
  others_p99_with_backlog_over_without: { of: "backlog", to: "calm" },
  p99_with_deleted_backlog_over_without: { of: "deleted_backlog", to: "calm" },
  p99_with_dump_over_without: { of: "dump", to: "calm_at_dump_rate" },
} as const satisfies Record<string, { of: Phase; to: Phase }>;

export type CalmRatioName = keyof typeof OVER_CALM;

/** Returns each phase's p99 relative to that of the calm of its round. */
export function ratiosToCalm(rounds: readonly Readonly<Record<Phase, Pick<SteadyRound[Phase], "p99_ms">>>[]): Record<CalmRatioName, Ratio> {
  const entries = Object.entries(OVER_CALM).map(([name, ratio]) => {
    const values = rounds.map((round) => round[ratio.of].p99_ms / round[ratio.to].p99_ms);
    return [name, { ...ratioOf(values), at_most: TARGETS.p99_over_calm }];
  });
  return Object.fromEntries(entries) as Record<CalmRatioName, Ratio>;
}

export interface BurstRound extends Burst {
  /** Requests per second of the bare loop. */
  readonly limit_per_second: number;
  readonly product_over_limit: number;
}

export interface WebhookResult {
  readonly deliveries_per_second: number;
  readonly limit_per_second: number;
  readonly statements_per_delivery: number;
  readonly wal_bytes_per_delivery: number;
  readonly wal_full_pages_per_delivery: number;
  readonly vacuum_wal_bytes_per_delivery: number;
  readonly cpu_ms_per_delivery: Usage;
  /** Time from change to arrival when calm. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Deliveries a second to the receiver that is behind: beside the steady changes for all, and without any. */
  readonly backlog_per_second: Readonly<Record<"beside" | "alone", Spread>>;
  /** By phase, of all rounds. */
  readonly longest_claim_ms: Readonly<Record<Phase | "burst", number>>;
  /** Within each round: phases to the calm of the same rate, the product to the bare loop. */
  readonly ratios: Readonly<Record<CalmRatioName | "product_over_limit", Ratio>>;
  /** What was measured again, because other programs disturbed it. */
  readonly repeated: readonly string[];
  readonly not_to_be_trusted: readonly string[];
  readonly burst_rounds: readonly BurstRound[];
  readonly steady_rounds: readonly SteadyRound[];
}

export interface MeasureParts extends Pick<WebhookEnvironment, "receivers" | "start"> {
  readonly product: WebhookProduct;
  readonly log: (text: string) => void;
}

export async function measure(parts: MeasureParts): Promise<WebhookResult> {
  const { log } = parts;
  const repeats = new Repeats(REPEATS_MAX, log);
  const bursts: BurstRound[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const measured = await repeats.undisturbed(`burst ${round}`, () => burstRound(parts));
    bursts.push(measured);
    const { limit_per_second, deliveries_per_second } = measured;
    log(`  burst ${round}: undici ${Math.round(limit_per_second)}/s, product ${Math.round(deliveries_per_second)}/s`);
  }
  const rounds: SteadyRound[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    log(`  steady phases, round ${round} of ${ROUNDS}, ${RATE_PER_SECOND}/s`);
    rounds.push(await steadyRound(`round ${round}`, { ...parts, repeats }));
  }
  return summarise(bursts, rounds, repeats.done);
}

/** Measures the bare loop, and then a burst. */
export async function burstRound({ product, receivers, start }: Omit<MeasureParts, "log">): Promise<BurstRound> {
  await receivers.begin();
  const foreignCores = await product.watchForeign();
  const program = start({ name: "limit", script: join(import.meta.dirname, "limit-main.js"), env: { PORTS: receivers.ports.join(",") } });
  const { perSecond } = (await program.ready) as { perSecond: number };
  // Before the loop ends: what has ended counts as another program.
  const beside = await foreignCores();
  await program.stop();
  const measured = await burst(product, receivers);
  return {
    ...measured,
    foreign_cores: Math.max(beside, measured.foreign_cores),
    limit_per_second: perSecond,
    product_over_limit: measured.deliveries_per_second / perSecond,
  };
}

function summarise(bursts: readonly BurstRound[], rounds: readonly SteadyRound[], repeated: readonly string[]): WebhookResult {
  const median = (read: (round: BurstRound) => number): number => spreadOf(bursts.map(read)).median;
  const calm = (name: "p50_ms" | "p99_ms"): number => spreadOf(rounds.map((round) => round.calm[name])).median;
  return {
    deliveries_per_second: median((round) => round.deliveries_per_second),
    limit_per_second: median((round) => round.limit_per_second),
    statements_per_delivery: median((round) => round.statements_per_delivery),
    wal_bytes_per_delivery: median((round) => round.wal_bytes_per_delivery),
    wal_full_pages_per_delivery: median((round) => round.wal_full_pages_per_delivery),
    vacuum_wal_bytes_per_delivery: median((round) => round.vacuum_wal_bytes_per_delivery),
    cpu_ms_per_delivery: medianUsage(bursts),
    p50_ms: calm("p50_ms"),
    p99_ms: calm("p99_ms"),
    backlog_per_second: {
      beside: spreadOf(rounds.map(({ backlog }) => backlogRate(backlog))),
      alone: spreadOf(rounds.map(({ backlog_alone }) => backlogRate(backlog_alone))),
    },
    longest_claim_ms: longestClaims(bursts, rounds),
    ratios: {
      product_over_limit: ratioOf(bursts.map((round) => round.product_over_limit)),
      ...ratiosToCalm(rounds),
    },
    repeated,
    not_to_be_trusted: [...doubtfulBursts(bursts), ...doubtfulPhases(rounds)],
    burst_rounds: bursts,
    steady_rounds: rounds,
  };
}

/** Returns the median of each process over the bursts. */
export function medianUsage(bursts: readonly Pick<Burst, "cpu_ms_per_delivery">[]): Usage {
  const names = ["webhook", "records", "postgres", "kafka", "receivers"] as const;
  const median = (name: (typeof names)[number]): number => spreadOf(bursts.map((round) => round.cpu_ms_per_delivery[name])).median;
  return Object.fromEntries(names.map((name) => [name, median(name)])) as Usage;
}

function longestClaims(bursts: readonly Burst[], rounds: readonly SteadyRound[]): WebhookResult["longest_claim_ms"] {
  const longest = { burst: Math.max(...bursts.map(({ longest_claim_ms: ms }) => ms)) } as Record<Phase | "burst", number>;
  for (const round of rounds) {
    for (const [phase, { longest_claim_ms: ms }] of Object.entries(round) as [Phase, SteadyRound[Phase]][]) {
      longest[phase] = Math.max(longest[phase] ?? 0, ms);
    }
  }
  return longest;
}

const doubtfulBursts = (bursts: readonly Burst[]): string[] =>
  bursts.flatMap((burst, index) =>
    isDisturbed(burst) ? [`burst ${index + 1}: other programs used ${burst.foreign_cores.toFixed(2)} cores`] : [],
  );

const doubtfulPhases = (rounds: readonly SteadyRound[]): string[] =>
  rounds.flatMap((round, index) =>
    Object.entries(round).flatMap(([phase, { doubts }]) => doubts.map((doubt) => `${phase}, round ${index + 1}: ${doubt}`)),
  );
