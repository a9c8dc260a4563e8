import type { Build, BuildName } from "../build.ts";
import { spreadOf } from "../statistics.ts";
import { burst, type Burst } from "./burst.ts";
import type { Environment } from "./environment.ts";
import { medianUsage } from "./measure.ts";
import type { Usage, WebhookProduct } from "./product.ts";
import { ratiosToOther, type ComparedName, type Ratio } from "./ratios.ts";
import { AGAINST_ROUNDS, FOREIGN_CORES_MAX } from "./settings.ts";

export interface Comparison {
  readonly folders: Readonly<Record<BuildName, string>>;
  /** This build's figures over the other's, within each round. */
  readonly ratios: Readonly<Record<ComparedName, Ratio>>;
  readonly medians: Readonly<Record<BuildName, Readonly<Record<ComparedName, number>>>>;
  readonly cpu_ms_per_delivery: Readonly<Record<BuildName, Usage>>;
  readonly not_to_be_trusted: readonly string[];
  readonly rounds: readonly Readonly<Record<BuildName, Burst>>[];
}

/**
 * Measures bursts of two builds in turn. Both stay up: a process that has just started costs more CPU time. The one that is not
 * measured is idle, with its own database and Kafka. The order changes every round.
 */
export async function compareBuilds(
  { startProduct, receivers }: Environment,
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

export function summariseComparison(folders: Comparison["folders"], rounds: Comparison["rounds"]): Comparison {
  const ratios = ratiosToOther(rounds);
  const names = Object.keys(ratios) as ComparedName[];
  const mediansOf = (build: BuildName): Record<ComparedName, number> =>
    Object.fromEntries(names.map((name) => [name, spreadOf(rounds.map((round) => round[build][name])).median])) as Record<
      ComparedName,
      number
    >;
  const cpuOf = (build: BuildName): Usage => medianUsage(rounds.map((round) => round[build]));
  return {
    folders,
    ratios,
    medians: { this: mediansOf("this"), other: mediansOf("other") },
    cpu_ms_per_delivery: { this: cpuOf("this"), other: cpuOf("other") },
    not_to_be_trusted: rounds.flatMap((round, index) =>
      Object.entries(round).flatMap(([name, { foreign_cores: cores }]) =>
        cores > FOREIGN_CORES_MAX ? [`round ${index + 1}, ${name}: other programs used ${cores.toFixed(2)} cores`] : [],
      ),
    ),
    rounds,
  };
}
