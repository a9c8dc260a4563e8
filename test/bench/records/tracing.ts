import { TRACED, type TracedName } from "./load/start-load.ts";
import { once } from "node:events";
import { join } from "node:path";
import type { Owned } from "../harness/bench-program.ts";
import { FOREIGN_CORES_MAX } from "../harness/foreign-cores.ts";
import { alignColumns } from "../harness/report.ts";
import { medianInterval, type MedianInterval } from "../harness/statistics.ts";
import type { BenchmarkOptions } from "./benchmark.ts";
import { fill } from "./database.ts";
import { startEnvironment } from "./environment.ts";
import { cpuOf, measureInParts, type Round, type Turn, turnIn } from "./measure.ts";
import { startProduct, type Variant } from "./variants.ts";

/** Fresh processes for each part: one process differs from another of the same code by more than tracing costs. */
const ROUNDS_PER_PART = 3;
const REPEATS_PER_PART = 1;
/** The default of 5 s is longer than a turn: the export at 1% would fall into the turns of others. */
const EXPORT_EVERY_MS = "1000";

export interface TracingResult {
  readonly profiled: boolean;
  readonly tracing: TracingSummary;
  /** Spans received, warm-ups included. */
  readonly spans: Readonly<Partial<Record<TracedName, number>>>;
  readonly rounds: readonly Round[];
}

/** Measures the product without tracing, and with two shares of sampled traces, in alternating turns. */
export async function runTracing(owned: Owned, { rounds, profileDir, log }: BenchmarkOptions): Promise<TracingResult> {
  log("Starting Postgres and Redis, filling the tables");
  const environment = await startEnvironment(owned, profileDir);
  const { databaseUrl, redisUrl, start, apiKeys, keys } = environment;
  await fill(databaseUrl, apiKeys);
  const counter = start({ name: "span-counter", script: join(import.meta.dirname, "span-counter.js") });
  const { port } = (await counter.ready) as { port: number };
  const startVariant = async (name: TracedName, share: number): Promise<Variant> => {
    const product = await startProduct({
      databaseUrl,
      redisUrl,
      keyPeppers: apiKeys.keyPeppers,
      key: keys[0] ?? "",
      start: (options) => start({ ...options, name: profileDir === undefined ? options.name : `${options.name}-${name}` }),
      env: share === 0 ? {} : tracingTo(port, name, share),
    });
    return { ...product, name };
  };
  const measured = await measureInParts({
    ...environment,
    rounds,
    roundsPerPart: ROUNDS_PER_PART,
    repeatsPerPart: REPEATS_PER_PART,
    async startVariants() {
      const variants: Variant[] = [];
      for (const [name, share] of Object.entries(TRACED) as [TracedName, number][]) variants.push(await startVariant(name, share));
      return variants;
    },
    log,
  });
  const spans = once(counter.child, "message");
  counter.child.send({});
  return {
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

/** CPU time as a multiple of that of the same round without tracing, at most. */
const TARGETS = { traced_1: 1.03, traced_100: 1.08 } as const;

const PRODUCT = ["gateway", "records", "accounts"] as const;

interface TracingCost {
  /** Milliseconds of CPU time per request. */
  readonly cpu_ms: MedianInterval;
  /** Relative to the same round without tracing. */
  readonly ratio: MedianInterval;
}

interface TracedSummary {
  /** The product's processes together. */
  readonly product: TracingCost;
  /** The cost of each process, Postgres and Redis among them. */
  readonly processes: Readonly<Record<string, TracingCost>>;
  readonly requests_per_second_ratio: MedianInterval;
  readonly target: number | undefined;
  /** Whether the interval is not wholly above the target. */
  readonly met: boolean;
}

export interface TracingSummary {
  readonly pairs: number;
  readonly foreign_cores: MedianInterval;
  readonly variants: Readonly<Record<TracedName, TracedSummary>>;
}

export function summariseTracing(rounds: readonly Round[]): TracingSummary {
  const summaries = (Object.keys(TRACED) as TracedName[]).map((name) => [name, summaryOf(name, rounds)] as const);
  return {
    pairs: rounds.length,
    foreign_cores: medianInterval(rounds.flatMap(({ turns }) => turns.map((turn) => turn.foreign_cores))),
    variants: Object.fromEntries(summaries) as Record<TracedName, TracedSummary>,
  };
}

function summaryOf(name: TracedName, rounds: readonly Round[]): TracedSummary {
  const costOf = (cpu: (turn: Turn) => number): TracingCost => {
    const own = rounds.map((round) => cpu(turnIn(round, name)));
    return {
      cpu_ms: medianInterval(own),
      ratio: medianInterval(own.map((ms, index) => ms / cpu(turnIn(rounds[index] as Round, "untraced")))),
    };
  };
  const processes = [...PRODUCT, "postgres", "redis"].map((process) => [process, costOf((turn) => cpuOf(turn, [process]))] as const);
  const product = costOf((turn) => cpuOf(turn, PRODUCT));
  const rates = rounds.map((round) => turnIn(round, name).requests_per_second / turnIn(round, "untraced").requests_per_second);
  const target = name === "untraced" ? undefined : TARGETS[name];
  return {
    product,
    processes: Object.fromEntries(processes),
    requests_per_second_ratio: medianInterval(rates),
    target,
    met: target === undefined || product.ratio.low <= target,
  };
}

/** Formats the result for a terminal. */
export function reportTracing({ tracing, spans, profiled }: TracingResult): string {
  const { pairs, foreign_cores: foreign, variants } = tracing;
  const lines = [`CPU ms per request, and its ratio to the same round without tracing: median (interval) of ${pairs} pairs`];
  for (const [name, summary] of Object.entries(variants)) {
    lines.push("", `${name}: ${(spans[name as keyof typeof variants] ?? 0).toLocaleString("en")} spans received`, ...variantTable(summary));
  }
  lines.push(
    "",
    `Other programs used ${foreign.median.toFixed(2)} cores meanwhile (${foreign.low.toFixed(2)} to ${foreign.high.toFixed(2)})`,
  );
  if (foreign.median > FOREIGN_CORES_MAX) lines.push("", "UNRELIABLE: repeat it on a quiet machine");
  if (profiled) lines.push("", "NOT COMPARABLE: profiling makes everything slower");
  return lines.join("\n");
}

function variantTable({ product, processes, requests_per_second_ratio: rate, target, met }: TracedSummary): string[] {
  const cells = ({ cpu_ms, ratio }: TracingCost): string[] => [
    intervalOf(cpu_ms, (ms) => ms.toFixed(3)),
    ...(target === undefined ? [] : [intervalOf(ratio, percent)]),
  ];
  return alignColumns([
    ["product", ...cells(product), ...(target === undefined ? [] : [`≤ ${percent(target)}`, met ? "met" : "MISSED"])],
    ...Object.entries(processes).map(([name, cost]) => [name, ...cells(cost)]),
    ...(target === undefined ? [] : [["requests/s", "", intervalOf(rate, percent)]]),
  ]);
}

const intervalOf = ({ median, low, high }: MedianInterval, format: (value: number) => string): string =>
  `${format(median)} (${format(low)} to ${format(high)})`;

/** The ratio 1.03 is +3.0%. */
const percent = (ratio: number): string =>
  Number.isNaN(ratio) ? "–" : `${ratio < 1 ? "−" : "+"}${Math.abs((ratio - 1) * 100).toFixed(1)}%`;
