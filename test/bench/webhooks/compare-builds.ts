import { isDisturbed, Repeats } from "../harness/foreign-cores.ts";
import type { Build, BuildName } from "../harness/programs.ts";
import { compareFigures, comparisonTable, folderLines, type ComparedFigure } from "../harness/report.ts";
import type { WebhookEnvironment } from "./environment.ts";
import { burstRound, type BurstRound, medianUsage } from "./measure.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import { doubtLines, repeatedLines, usageLine } from "./report.ts";
import { AGAINST_REPEATS_MAX, AGAINST_ROUNDS } from "./settings.ts";

/** What two builds are compared by. Of each, less is better, except of the rate and its share of the bare loop's. */
export const COMPARED = {
  product_cpu_ms_per_delivery: (burst: BurstRound) => burst.product_cpu_ms_per_delivery,
  wal_bytes_per_delivery: (burst: BurstRound) => burst.wal_bytes_per_delivery,
  vacuum_wal_bytes_per_delivery: (burst: BurstRound) => burst.vacuum_wal_bytes_per_delivery,
  statements_per_delivery: (burst: BurstRound) => burst.statements_per_delivery,
  deliveries_per_second: (burst: BurstRound) => burst.deliveries_per_second,
  product_over_limit: (burst: BurstRound) => burst.product_over_limit,
};

export interface Comparison {
  readonly folders: Readonly<Record<BuildName, string>>;
  readonly figures: Readonly<Record<keyof typeof COMPARED, ComparedFigure>>;
  readonly cpu_ms_per_delivery: Readonly<Record<BuildName, Usage>>;
  readonly repeated: readonly string[];
  readonly not_to_be_trusted: readonly string[];
  readonly rounds: readonly Readonly<Record<BuildName, BurstRound>>[];
}

/**
 * Measures bursts of two builds in turn. Both stay up: a process that has just started costs more CPU time. The one that is not
 * measured is idle, with its own database and Kafka. The order changes every round.
 */
export async function compareBuilds(
  { startProduct, receivers, start }: WebhookEnvironment,
  builds: Readonly<Record<BuildName, Build>>,
  log: (text: string) => void,
): Promise<Comparison> {
  const products: Record<BuildName, WebhookProduct> = { this: await startProduct(builds.this), other: await startProduct(builds.other) };
  const measure = (name: BuildName): Promise<BurstRound> => burstRound({ product: products[name], receivers, start });
  const repeats = new Repeats(AGAINST_REPEATS_MAX, log);
  log("  warm-up");
  await measure("other");
  await measure("this");
  const rounds: Record<BuildName, BurstRound>[] = [];
  for (let round = 1; round <= AGAINST_ROUNDS; round += 1) {
    const order: BuildName[] = round % 2 === 0 ? ["this", "other"] : ["other", "this"];
    const measured = {} as Record<BuildName, BurstRound>;
    for (const name of order) measured[name] = await repeats.undisturbed(`${name}, round ${round}`, () => measure(name));
    rounds.push(measured);
    log(`  round ${round} of ${AGAINST_ROUNDS}: ${order.map((name) => `${name} ${describe(measured[name])}`).join(", ")}`);
  }
  return summariseComparison({ this: builds.this.folder, other: builds.other.folder }, rounds, repeats.done);
}

const describe = ({ deliveries_per_second: rate, product_cpu_ms_per_delivery: cpu }: BurstRound): string =>
  `${Math.round(rate)}/s with ${cpu.toFixed(3)} ms of CPU each`;

function summariseComparison(folders: Comparison["folders"], rounds: Comparison["rounds"], repeated: readonly string[]): Comparison {
  const cpuOf = (build: BuildName): Usage => medianUsage(rounds.map((round) => round[build]));
  return {
    folders,
    figures: compareFigures(COMPARED, rounds),
    cpu_ms_per_delivery: { this: cpuOf("this"), other: cpuOf("other") },
    repeated,
    not_to_be_trusted: rounds.flatMap((round, index) =>
      Object.entries(round).flatMap(([name, burst]) =>
        isDisturbed(burst) ? [`${name}, round ${index + 1}: other programs used ${burst.foreign_cores.toFixed(2)} cores`] : [],
      ),
    ),
    rounds,
  };
}

/** Formats the comparison for a terminal. */
export function reportComparison({ folders, figures, cpu_ms_per_delivery: cpu, repeated, not_to_be_trusted }: Comparison): string {
  return [
    ...folderLines(folders),
    "",
    ...comparisonTable(figures),
    "",
    `  this:  ${usageLine(cpu.this)}`,
    `  other: ${usageLine(cpu.other)}`,
    ...repeatedLines(repeated),
    ...doubtLines(not_to_be_trusted),
  ].join("\n");
}
