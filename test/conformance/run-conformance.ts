import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";

/** Each runs in about a second; it gives a single scenario 30. */
const RUN_MS_MAX = 60_000;

export interface Verdict {
  readonly code: number;
  /** Failures and warnings that no baseline excuses, as `scenario` or `scenario:check`. */
  readonly unexpected: readonly string[];
  /** What the baseline excuses and did not fail. */
  readonly stale: readonly string[];
  /** What the baseline excused. */
  readonly excused: readonly string[];
  readonly stderr: string;
}

/**
 * Runs the protocol's conformance suite against a server.
 *
 * @param suite the name under which it is installed: `conformance-` and its version
 */
export function runConformance(suite: string, url: string, parameters: readonly string[]): Promise<Verdict> {
  const script = `node_modules/${suite}/dist/index.js`;
  const options = { env: { PATH: process.env["PATH"] }, timeout: RUN_MS_MAX, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, "server", "--url", url, ...parameters], options, (error, stdout, stderr) => {
      const told = sectionsOf(stripVTControlCharacters(stdout));
      resolve({
        // Not a number if it was killed for taking too long.
        code: error === null ? 0 : Number(error.code ?? NaN),
        unexpected: told("Unexpected failures"),
        stale: told("Stale baseline entries"),
        excused: told("Expected failures"),
        stderr,
      });
    });
  });
}

/** The entries of a baseline. The suites take no notice of one that names nothing they know. */
export async function entriesOf(baseline: string): Promise<readonly string[]> {
  return [...(await readFile(baseline, "utf8")).matchAll(/^ {2}- (\S+)$/gm)].map(([, entry]) => entry ?? "");
}

/** @returns what is listed, a mark before each, under the heading that begins so */
function sectionsOf(report: string): (heading: string) => string[] {
  const lines = report.split("\n");
  return (heading) => {
    const start = lines.findIndex((line) => line.startsWith(heading));
    if (start < 0) return [];
    const below = lines.slice(start + 1);
    return below.slice(0, below.indexOf("")).map((line) => line.replace(/^ {2}\S /, ""));
  };
}
