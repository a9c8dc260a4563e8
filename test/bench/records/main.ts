import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { benchProgram, type OptionValues, type Owned } from "../harness/bench-program.ts";
import { findBuild } from "../harness/programs.ts";
import { compareBuilds, type Comparison, PROGRAMS, reportComparison } from "./against.ts";
import { runBenchmark, type BenchmarkResult } from "./benchmark.ts";
import { report } from "./report.ts";
import { AGAINST_ROUNDS, ROUNDS, TRACING_ROUNDS } from "./settings.ts";
import { reportTracing, runTracing, type TracingResult } from "./tracing.ts";

const USAGE = `npm run bench:records -- [--json FILE] [--tracing | --against FOLDER] [--profile DIRECTORY]

  --json FILE          writes all results
  --tracing            measures what tracing costs, and nothing else
  --against FOLDER     compares pages of this checkout and of another one, which must be built, and measures nothing else
  --profile DIRECTORY  takes a CPU profile of every process; the figures are then not comparable
`;

const OPTIONS = {
  tracing: { type: "boolean", default: false },
  against: { type: "string" },
  profile: { type: "string" },
} as const;

type Result = BenchmarkResult | TracingResult | Comparison;

await benchProgram<Result>({ usage: USAGE, options: OPTIONS, run, report: reportAny });

function reportAny(result: Result): string {
  if ("tracing" in result) return reportTracing(result);
  return "comparison" in result ? reportComparison(result) : report(result);
}

async function run(owned: Owned, log: (text: string) => void, options: OptionValues): Promise<Result> {
  if (process.platform !== "linux") throw new Error("this benchmark reads CPU time and memory from /proc and needs Linux");
  const { tracing, against, profile } = options;
  if (tracing === true && against !== undefined) {
    throw new Error("--tracing and --against are benchmarks of their own: run one after the other");
  }
  const profileDir = typeof profile === "string" ? resolve(profile) : undefined;
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  const given = { profileDir, log };
  if (against !== undefined) {
    const builds = { this: findBuild("this", undefined, PROGRAMS), other: findBuild("other", against, PROGRAMS) };
    return compareBuilds(owned, builds, { ...given, rounds: AGAINST_ROUNDS });
  }
  if (tracing === true) return runTracing(owned, { ...given, rounds: TRACING_ROUNDS });
  return runBenchmark(owned, { ...given, rounds: ROUNDS });
}
