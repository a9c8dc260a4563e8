import type { Owned } from "../harness/bench-program.ts";
import { createDatabase } from "../harness/databases.ts";
import { FOREIGN_CORES_MAX } from "../harness/foreign-cores.ts";
import type { Build, BuildName, ProgramName, ProgramOptions } from "../harness/programs.ts";
import { compareFigures, comparisonTable, folderLines, type ComparedFigure } from "../harness/report.ts";
import { spreadOf, type Spread } from "../harness/statistics.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import { fill } from "./database.ts";
import { startEnvironment } from "./environment.ts";
import { cpuOf, measureInParts, turnIn, type Round, type Turn } from "./measure.ts";
import { AGAINST_REPEATS_PER_PART, AGAINST_ROUNDS_PER_PART } from "./settings.ts";
import { startProduct, type Variant } from "./variants.ts";

/** The programs that a build needs. */
export const PROGRAMS: readonly ProgramName[] = ["gateway", "records", "accounts"];

export interface Comparison {
  readonly profiled: boolean;
  readonly folders: Readonly<Record<BuildName, string>>;
  readonly comparison: ComparisonSummary;
  readonly rounds: readonly Round[];
}

/**
 * Measures the products of two builds in alternating turns. Each has a Redis and a database of its own, migrated by its own migrations, with
 * the same records and keys.
 */
export async function compareBuilds(
  owned: Owned,
  builds: Readonly<Record<BuildName, Build>>,
  { rounds, profileDir, log }: BenchmarkOptions,
): Promise<Comparison> {
  log("Starting Postgres and Redis, filling two databases");
  const environment = await startEnvironment(owned, profileDir);
  const { databaseUrl: serverUrl, redisUrl, backends, startRedis, start, apiKeys, keys } = environment;
  // A brand's epoch is the time at which it was made: in a Redis of both, one build's is never the newest, and it verifies every request.
  const otherRedis = await startRedis();
  const redisUrls: Readonly<Record<BuildName, string>> = { this: redisUrl, other: otherRedis.url };
  const databases = {} as Record<BuildName, string>;
  for (const { name, folder } of Object.values(builds)) {
    databases[name] = await createDatabase(serverUrl, `${name}_build`);
    await fill(databases[name], apiKeys, { folder });
  }
  const startBuild = async (build: Build): Promise<Variant> => {
    const product = await startProduct({
      keyPeppers: apiKeys.keyPeppers,
      key: keys[0] ?? "",
      databaseUrl: databases[build.name],
      redisUrl: redisUrls[build.name],
      checkout: build,
      start: (options: ProgramOptions) => start({ ...options, name: `${options.name}-${build.name}` }),
    });
    return { ...product, name: build.name };
  };
  const measured = await measureInParts({
    ...environment,
    backends: { ...backends, redis: [...backends.redis, otherRedis.pid] },
    rounds,
    roundsPerPart: AGAINST_ROUNDS_PER_PART,
    repeatsPerPart: AGAINST_REPEATS_PER_PART,
    startVariants: async () => [await startBuild(builds.this), await startBuild(builds.other)],
    log,
  });
  return {
    profiled: profileDir !== undefined,
    folders: { this: builds.this.folder, other: builds.other.folder },
    comparison: summariseComparison(measured),
    rounds: measured,
  };
}

/** What two builds are compared by. Of each, less is better, except of the rate. CPU time is in milliseconds per request. */
const FIGURES = {
  gateway_and_records_cpu_ms: (turn: Turn) => cpuOf(turn, ["gateway", "records"]),
  gateway_cpu_ms: (turn: Turn) => cpuOf(turn, ["gateway"]),
  records_cpu_ms: (turn: Turn) => cpuOf(turn, ["records"]),
  accounts_cpu_ms: (turn: Turn) => cpuOf(turn, ["accounts"]),
  postgres_cpu_ms: (turn: Turn) => cpuOf(turn, ["postgres"]),
  redis_cpu_ms: (turn: Turn) => cpuOf(turn, ["redis"]),
  requests_per_second: (turn: Turn) => turn.requests_per_second,
  p50_ms: (turn: Turn) => turn.p50_ms,
  p99_ms: (turn: Turn) => turn.p99_ms,
};

interface ComparisonSummary {
  readonly rounds: number;
  /** Cores used by programs outside the benchmark. */
  readonly foreign_cores: Spread;
  readonly figures: Readonly<Record<keyof typeof FIGURES, ComparedFigure>>;
}

export function summariseComparison(rounds: readonly Round[]): ComparisonSummary {
  const turns = rounds.map((round) => ({ this: turnIn(round, "this"), other: turnIn(round, "other") }));
  return {
    rounds: rounds.length,
    foreign_cores: spreadOf(turns.flatMap((pair) => [pair.this.foreign_cores, pair.other.foreign_cores])),
    figures: compareFigures(FIGURES, turns),
  };
}

/** Formats the comparison for a terminal. */
export function reportComparison({ folders, comparison, profiled }: Comparison): string {
  const { rounds, foreign_cores: foreign, figures } = comparison;
  const lines = [
    ...folderLines(folders),
    `Medians of ${rounds} rounds, CPU time per request`,
    "",
    ...comparisonTable(figures),
    "",
    `Other programs used ${foreign.median.toFixed(2)} cores meanwhile (at most ${foreign.max.toFixed(2)})`,
  ];
  if (foreign.median > FOREIGN_CORES_MAX) lines.push("", "UNRELIABLE: repeat it on a quiet machine");
  if (profiled) lines.push("", "NOT COMPARABLE: profiling makes everything slower");
  return lines.join("\n");
}
