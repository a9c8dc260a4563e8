import { fill } from "./database.ts";
import { BRANDS, RECORDS } from "./dataset.ts";
import { measureDeepPage, type DeepPage } from "./deep-page.ts";
import { startEnvironment } from "./environment.ts";
import { measureRounds, type Round } from "./measure.ts";
import type { Backends } from "./environment.ts";
import type { Owned } from "../harness/bench-program.ts";
import { memoryMib, peakMemoryMib, postgresMemoryMib } from "../harness/process-usage.ts";
import type { Program } from "../harness/programs.ts";
import { sumOf } from "../harness/statistics.ts";
import { requireEqualResponses } from "./equal-responses.ts";
import { DEEP_PAGE } from "./settings.ts";
import { summarise, type Memory, type Summary } from "./summary.ts";
import { startVariants, type Variant } from "./variants.ts";

export interface BenchmarkOptions {
  readonly rounds: number;
  readonly profileDir: string | undefined;
  log(text: string): void;
}

export interface BenchmarkResult {
  readonly profiled: boolean;
  readonly summary: Summary;
  readonly deep_page: DeepPage;
  readonly product_seconds_to_first_answer: number;
  /** Resident memory of the product's gateway before the load, at its peak, and after the last round. */
  readonly gateway_memory_mib: Readonly<Record<"start" | "peak" | "end", number>>;
  readonly rounds: readonly Round[];
}

/** Starts everything it needs, owned by `owned`, and measures. */
export async function runBenchmark(owned: Owned, { rounds, profileDir, log }: BenchmarkOptions): Promise<BenchmarkResult> {
  log("Starting Postgres and Redis");
  const { databaseUrl, redisUrl, backends, watchForeign, start, apiKeys, keys, load } = await startEnvironment(owned, profileDir);
  log(`Filling the tables with ${RECORDS.toLocaleString("en")} conversions of ${BRANDS.toLocaleString("en")} brands`);
  await fill(databaseUrl, apiKeys);

  log("Starting the variants");
  const parts = { databaseUrl, redisUrl, keyPeppers: apiKeys.keyPeppers, key: keys[0] ?? "", start };
  const { all: variants, product } = await startVariants(parts);
  await requireEqualResponses(variants, keys);

  const startMib = await memoryMib(product.gateway.pid);
  const measured = await measureRounds({ variants, load, backends, watchForeign, rounds, log });
  const memory = await memoryOf(variants, load.program, backends);
  const afterLoad = { peak: await peakMemoryMib(product.gateway.pid), end: await memoryMib(product.gateway.pid) };
  log(`Measuring page ${DEEP_PAGE.toLocaleString("en")}`);
  const deep = await measureDeepPage(product.recordsAddress, databaseUrl);
  return {
    profiled: profileDir !== undefined,
    summary: summarise(measured, deep, memory),
    deep_page: deep,
    product_seconds_to_first_answer: product.secondsToFirstResponse,
    gateway_memory_mib: { start: startMib, ...afterLoad },
    rounds: measured,
  };
}

async function memoryOf(variants: readonly Variant[], load: Program, { postmaster, redis }: Backends): Promise<Memory> {
  const shared = { postgres: await postgresMemoryMib(postmaster), redis: sumOf(await Promise.all(redis.map(memoryMib))) };
  const memory: { -readonly [Name in keyof Memory]: Memory[Name] } = {};
  for (const { name, programs } of variants) {
    const own = await Promise.all([...programs, load].map(async (program) => [program.name, await memoryMib(program.pid)] as const));
    memory[name] = { ...Object.fromEntries(own), ...shared };
  }
  return memory;
}
