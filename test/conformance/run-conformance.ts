import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";

/** A run takes about a second; a suite allows 30 s for one scenario. */
const RUN_MS_MAX = 60_000;

export interface Verdict {
  readonly code: number;
  /** Failures and warnings outside the baseline, as `scenario` or `scenario:check`. */
  readonly unexpected: readonly string[];
  /** Baseline entries that passed. */
  readonly stale: readonly string[];
  /** Baseline entries that failed. */
  readonly excused: readonly string[];
  readonly stderr: string;
}

/** Runs the protocol's conformance suite against a server. */
export function runConformance(url: string, parameters: readonly string[]): Promise<Verdict> {
  const script = `node_modules/conformance-0.2/dist/index.js`;
  const options = { env: { PATH: process.env["PATH"] }, timeout: RUN_MS_MAX, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, "server", "--url", url, ...parameters], options, (error, stdout, stderr) => {
      const section = sectionsOf(stripVTControlCharacters(stdout));
      resolve({
        // NaN if it was killed at the time limit.
        code: error === null ? 0 : Number(error.code ?? NaN),
        unexpected: section("Unexpected failures"),
        stale: section("Stale baseline entries"),
        excused: section("Expected failures"),
        stderr,
      });
    });
  });
}

/** Returns the entries of a baseline. The suites ignore unknown entries. */
export async function entriesOf(baseline: string): Promise<readonly string[]> {
  return [...(await readFile(baseline, "utf8")).matchAll(/^ {2}- (\S+)$/gm)].map(([, entry]) => entry ?? "");
}

/** Returns a function that lists the lines under a heading, without their marks. */
function sectionsOf(report: string): (heading: string) => string[] {
  const lines = report.split("\n");
  return (heading) => {
    const start = lines.findIndex((line) => line.startsWith(heading));
    if (start < 0) return [];
    const below = lines.slice(start + 1);
    return below.slice(0, below.indexOf("")).map((line) => line.replace(/^ {2}\S /, ""));
  };
}
