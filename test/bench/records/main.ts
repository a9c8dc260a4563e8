import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { benchProgram, type OptionValues } from "../bench-program.ts";
import type { Owned } from "../owned.ts";
import { runBenchmark, type BenchmarkResult } from "./benchmark.ts";
import { report } from "./report.ts";
import { ROUNDS } from "./settings.ts";

const USAGE = `npm run bench:records -- [--json FILE] [--rounds N] [--more] [--profile DIRECTORY]

  --json FILE          writes all results
  --rounds N           Default: ${ROUNDS}. Fewer only for trying out
  --more               adds variants without a target: the tool in the older protocol, and in version 1 of the SDK
  --profile DIRECTORY  takes a CPU profile of every process; the figures are then not comparable
`;

const OPTIONS = {
  rounds: { type: "string", default: String(ROUNDS) },
  more: { type: "boolean", default: false },
  profile: { type: "string" },
} as const;

await benchProgram({ usage: USAGE, options: OPTIONS, run, report });

async function run(owned: Owned, log: (text: string) => void, { rounds, more, profile }: OptionValues): Promise<BenchmarkResult> {
  if (process.platform !== "linux") throw new Error("this benchmark reads CPU time and memory from /proc and needs Linux");
  const profileDir = typeof profile === "string" ? resolve(profile) : undefined;
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  return runBenchmark(owned, { rounds: Number(rounds), more: more === true, profileDir, log });
}
