import type { Build, BuildName } from "../harness/programs.ts";
import { compareFigures, comparisonTable, folderLines, type ComparedFigure } from "../harness/report.ts";
import { burst, type Burst } from "./burst.ts";
import type { WebhookEnvironment } from "./environment.ts";
import { medianUsage } from "./measure.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import { doubtLines, usageLine } from "./report.ts";
import { AGAINST_ROUNDS, FOREIGN_CORES_MAX } from "./settings.ts";

/** What two builds are compared by. Of each, less is better, except of the rate. */
export const COMPARED = {
  product_cpu_ms_per_delivery: (burst: Burst) => burst.product_cpu_ms_per_delivery,
  wal_bytes_per_delivery: (burst: Burst) => burst.wal_bytes_per_delivery,
  vacuum_wal_bytes_per_delivery: (burst: Burst) => burst.vacuum_wal_bytes_per_delivery,
  statements_per_delivery: (burst: Burst) => burst.statements_per_delivery,
  deliveries_per_second: (burst: Burst) => burst.deliveries_per_second,
};

export interface Comparison {
  readonly folders: Readonly<Record<BuildName, string>>;
  readonly figures: Readonly<Record<keyof typeof COMPARED, ComparedFigure>>;
  readonly cpu_ms_per_delivery: Readonly<Record<BuildName, Usage>>;
  readonly not_to_be_trusted: readonly string[];
  readonly rounds: readonly Readonly<Record<BuildName, Burst>>[];
}

/**
 * Measures bursts of two builds in turn. Both stay up: a process that has just started costs more CPU time. The one that is not
 * measured is idle, with its own database and Kafka. The order changes every round.
 */
export async function compareBuilds(
  { startProduct, receivers }: WebhookEnvironment,
  builds: Readonly<Record<BuildName, Build>>,
  log: (text: string) => void,
): Promise<Comparison> {
  const products: Record<BuildName, WebhookProduct> = { this: await startProduct(builds.this), other: await startProduct(builds.other) };
  const measure = (name: BuildName): Promise<Burst> => burst(products[name], receivers);
  log("  warm-up");
  await measure("other");
  await measure("this");
  const rounds: Record<BuildName, Burst>[] = [];
  for (let round = 1; round <= AGAINST_ROUNDS; round += 1) {
    const order: BuildName[] = round % 2 === 0 ? ["this", "other"] : ["other", "this"];
    const measured = {} as Record<BuildName, Burst>;
    for (const name of order) measured[name] = await measure(name);
    rounds.push(measured);
    log(`  round ${round} of ${AGAINST_ROUNDS}: ${order.map((name) => `${name} ${describe(measured[name])}`).join(", ")}`);
  }
  return summariseComparison({ this: builds.this.folder, other: builds.other.folder }, rounds);
}

const describe = ({ deliveries_per_second: rate, product_cpu_ms_per_delivery: cpu }: Burst): string =>
  `${Math.round(rate)}/s with ${cpu.toFixed(3)} ms of CPU each`;

function summariseComparison(folders: Comparison["folders"], rounds: Comparison["rounds"]): Comparison {
  const cpuOf = (build: BuildName): Usage => medianUsage(rounds.map((round) => round[build]));
  return {
    folders,
    figures: compareFigures(COMPARED, rounds),
    cpu_ms_per_delivery: { this: cpuOf("this"), other: cpuOf("other") },
    not_to_be_trusted: rounds.flatMap((round, index) =>
      Object.entries(round).flatMap(([name, { foreign_cores: cores }]) =>
        cores > FOREIGN_CORES_MAX ? [`round ${index + 1}, ${name}: other programs used ${cores.toFixed(2)} cores`] : [],
      ),
    ),
    rounds,
  };
}

/** Formats the comparison for a terminal. */
export function reportComparison({ folders, figures, cpu_ms_per_delivery: cpu, not_to_be_trusted }: Comparison): string {
  return [
    ...folderLines(folders),
    "",
    ...comparisonTable(figures),
    "",
    `  this:  ${usageLine(cpu.this)}`,
    `  other: ${usageLine(cpu.other)}`,
    ...doubtLines(not_to_be_trusted),
  ].join("\n");
}
