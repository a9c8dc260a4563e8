import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { benchProgram, type OptionValues } from "../bench-program.ts";
import type { Owned } from "../owned.ts";
import { runBenchmark, type BenchmarkResult } from "./benchmark.ts";
import { report } from "./report.ts";
import { ROUNDS, TRACING_ROUNDS } from "./settings.ts";
import { reportTracing } from "./tracing/report-tracing.ts";
import { runTracing, type TracingResult } from "./tracing/run-tracing.ts";

const USAGE = `npm run bench:records -- [--json FILE] [--rounds N] [--more | --tracing] [--profile DIRECTORY]

  --json FILE          writes all results
  --rounds N           Default: ${ROUNDS}; with --tracing ${TRACING_ROUNDS}. Fewer only for trying out
  --more               adds variants without a target: the tool in the older protocol, and in version 1 of the SDK
  --tracing            measures what tracing costs, and nothing else
  --profile DIRECTORY  takes a CPU profile of every process; the figures are then not comparable
`;

const OPTIONS = {
  rounds: { type: "string" },
  more: { type: "boolean", default: false },
  tracing: { type: "boolean", default: false },
  profile: { type: "string" },
} as const;

await benchProgram({
  usage: USAGE,
  options: OPTIONS,
  run,
  report: (result) => ("tracing" in result ? reportTracing(result) : report(result)),
});

async function run(owned: Owned, log: (text: string) => void, options: OptionValues): Promise<BenchmarkResult | TracingResult> {
  if (process.platform !== "linux") throw new Error("this benchmark reads CPU time and memory from /proc and needs Linux");
  const { rounds, more, tracing, profile } = options;
  if (more === true && tracing === true) throw new Error("--more and --tracing are two benchmarks: run one after the other");
  const profileDir = typeof profile === "string" ? resolve(profile) : undefined;
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  const given = { more: more === true, profileDir, log };
  if (tracing === true) return runTracing(owned, { ...given, rounds: Number(rounds ?? TRACING_ROUNDS) });
  return runBenchmark(owned, { ...given, rounds: Number(rounds ?? ROUNDS) });
}
