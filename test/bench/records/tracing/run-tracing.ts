import { once } from "node:events";
import { join } from "node:path";
import type { Owned } from "../../owned.ts";
import type { Program, ProgramOptions } from "../../program.ts";
import { machineFacts, type BenchmarkOptions, type MachineFacts } from "../benchmark.ts";
import { fill, makeKeys } from "../database.ts";
import { startEnvironment } from "../environment.ts";
import { startLoad } from "../load/start-load.ts";
import { measureRounds, type Round } from "../measure.ts";
import { startProduct } from "../product.ts";
import { requireEqualResponses } from "../equal-responses.ts";
import type { Variant } from "../variants.ts";
import { summariseTracing, type TracingSummary } from "./summarise-tracing.ts";
import { TRACED, type TracedName } from "./traced.ts";

/** Fresh processes for each part: one process differs from another of the same code by more than tracing costs. */
const ROUNDS_PER_PART = 3;
const REPEATS_PER_PART = 1;
/** The default of 5 s is longer than a turn: the export at 1% would fall into the turns of others. */
const EXPORT_EVERY_MS = "1000";

export interface TracingResult {
  readonly machine: MachineFacts;
  readonly profiled: boolean;
  readonly tracing: TracingSummary;
  /** Spans received, warm-ups included. */
  readonly spans: Readonly<Partial<Record<TracedName, number>>>;
  readonly rounds: readonly Round[];
}

/** Measures the product without tracing, and with two shares of sampled traces, in alternating turns. */
export async function runTracing(owned: Owned, { rounds, profileDir, log }: BenchmarkOptions): Promise<TracingResult> {
  log("Starting Postgres and Redis, filling the tables");
  const { databaseUrl, redisUrl, backends, start } = await startEnvironment(owned, profileDir);
  const apiKeys = makeKeys();
  const postgresVersion = await fill(databaseUrl, apiKeys);
  const [keys = []] = apiKeys.sets;
  const load = startLoad(start, apiKeys.sets);
  const counter = start({ name: "span-counter", script: join(import.meta.dirname, "span-counter.js") });
  const { port } = (await counter.ready) as { port: number };
  const parts = { databaseUrl, redisUrl, keyPeppers: apiKeys.keyPeppers, key: keys[0] ?? "" };

  const measured: Round[] = [];
  while (measured.length < rounds) {
    const variants: Variant[] = [];
    for (const [name, share] of Object.entries(TRACED) as [TracedName, number][]) {
      const startNamed = (options: ProgramOptions): Program =>
        start({ ...options, name: profileDir === undefined ? options.name : `${options.name}-${name}` });
      const product = await startProduct({ ...parts, start: startNamed, env: share === 0 ? {} : tracingTo(port, name, share) });
      variants.push({ name, programs: product.programs, port: product.port });
    }
    if (measured.length === 0) await requireEqualResponses(variants, keys);
    const programs = [load.program, counter, ...variants.flatMap((variant) => variant.programs)];
    const measuring = measureRounds({
      variants,
      load,
      backends,
      others: [counter],
      rounds: Math.min(ROUNDS_PER_PART, rounds - measured.length),
      repeatsMax: REPEATS_PER_PART,
      log,
    });
    measured.push(...(await Promise.race([measuring, ...programs.map((program) => program.ended)])));
    for (const { programs: own } of variants) await Promise.all(own.map((program) => program.stop()));
  }
  const spans = once(counter.child, "message");
  counter.child.send({});
  return {
    machine: { ...machineFacts(), postgres: postgresVersion },
    profiled: profileDir !== undefined,
    tracing: summariseTracing(measured),
    spans: ((await spans) as [TracingResult["spans"]])[0],
    rounds: measured,
  };
}

const tracingTo = (port: number, variant: TracedName, share: number): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/${variant}`,
  OTEL_TRACES_SAMPLER_ARG: String(share),
  OTEL_BSP_SCHEDULE_DELAY: EXPORT_EVERY_MS,
});
