import type { Build, BuildName, ProgramName } from "../../build.ts";
import { createDatabase } from "../../databases.ts";
import type { Owned } from "../../owned.ts";
import type { ProgramOptions } from "../../program.ts";
import { machineFacts, type BenchmarkOptions, type MachineFacts } from "../benchmark.ts";
import { fill, makeKeys } from "../database.ts";
import { startEnvironment } from "../environment.ts";
import { requireEqualResponses } from "../equal-responses.ts";
import { startLoad } from "../load/start-load.ts";
import { measureRounds, type Round } from "../measure.ts";
import { startProduct } from "../product.ts";
import { AGAINST_REPEATS_PER_PART, AGAINST_ROUNDS_PER_PART } from "../settings.ts";
import type { Variant } from "../variants.ts";
import { summariseComparison, type ComparisonSummary } from "./summarise-comparison.ts";

/** The programs that a build needs. */
export const PROGRAMS: readonly ProgramName[] = ["gateway", "records", "accounts"];

export interface Comparison {
  readonly machine: MachineFacts;
  readonly profiled: boolean;
  readonly folders: Readonly<Record<BuildName, string>>;
  readonly comparison: ComparisonSummary;
  readonly rounds: readonly Round[];
}

/**
 * Measures the products of two builds in alternating turns. Each has a Redis and a database of its own, migrated by its own migrations, with
 * the same records and keys; responses must be equal byte for byte. All processes start again after some rounds, so that no single
 * process decides the result.
 */
export async function compareBuilds(
  owned: Owned,
  builds: Readonly<Record<BuildName, Build>>,
  { rounds, profileDir, log }: Omit<BenchmarkOptions, "more">,
): Promise<Comparison> {
  log("Starting Postgres and Redis, filling two databases");
  const { databaseUrl: serverUrl, redisUrl, backends, startRedis, start } = await startEnvironment(owned, profileDir);
  // A brand's epoch is the time at which it was made: in a Redis of both, one build's is never the newest, and it verifies every request.
  const otherRedis = await startRedis();
  const redisUrls: Readonly<Record<BuildName, string>> = { this: redisUrl, other: otherRedis.url };
  const apiKeys = makeKeys();
  const [keys = []] = apiKeys.sets;
  const databases = {} as Record<BuildName, string>;
  let postgres = "unknown";
  for (const { name, folder } of Object.values(builds)) {
    databases[name] = await createDatabase(serverUrl, `${name}_build`);
    postgres = await fill(databases[name], apiKeys, { folder });
  }
  const load = startLoad(start, apiKeys.sets);
  const parts = { keyPeppers: apiKeys.keyPeppers, key: keys[0] ?? "" };
  const startBuild = async (build: Build): Promise<Variant> => {
    const startNamed = (options: ProgramOptions) => start({ ...options, name: `${options.name}-${build.name}` });
    const product = await startProduct({
      ...parts,
      databaseUrl: databases[build.name],
      redisUrl: redisUrls[build.name],
      checkout: build,
      start: startNamed,
    });
    return { ...product, name: build.name };
  };

  const measured: Round[] = [];
  while (measured.length < rounds) {
    const variants = [await startBuild(builds.this), await startBuild(builds.other)];
    if (measured.length === 0) await requireEqualResponses(variants, keys);
    const programs = variants.flatMap((variant) => variant.programs);
    const measuring = measureRounds({
      variants,
      load,
      backends: { ...backends, redis: [...backends.redis, otherRedis.pid] },
      rounds: Math.min(AGAINST_ROUNDS_PER_PART, rounds - measured.length),
      repeatsMax: AGAINST_REPEATS_PER_PART,
      log,
    });
    measured.push(...(await Promise.race([measuring, ...[load.program, ...programs].map((program) => program.ended)])));
    await Promise.all(programs.map((program) => program.stop()));
  }
  return {
    machine: { ...machineFacts(), postgres },
    profiled: profileDir !== undefined,
    folders: { this: builds.this.folder, other: builds.other.folder },
    comparison: summariseComparison(measured),
    rounds: measured,
  };
}
