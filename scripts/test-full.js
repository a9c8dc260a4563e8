import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/*
 * Runs all tests: `npm test`, then each `*.full.test.ts`: two at a time, and those of test/alone.json one after another. Prints what each
 * part took beside its budget in test/budgets.json, the slowest test files, and at the end what failed, which a log of an hour hides. The
 * next part runs even if one fails. A part over its budget is marked but does not fail the run: machines are noisy.
 */

const SLOWEST_SHOWN = 10;
const root = join(import.meta.dirname, "..");
/** Minutes by part: `npm test`, or the path of a `*.full.test.ts`. */
const budgets = JSON.parse(readFileSync(join(root, "test/budgets.json"), "utf8"));
/** Paths of tests that load both cores, or whose faults and figures another system on the machine would change. */
const alonePaths = JSON.parse(readFileSync(join(root, "test/alone.json"), "utf8"));

const folder = mkdtempSync(join(tmpdir(), "test-full-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Runs jest and reads the summary that it writes. Without a summary the run counts as one failure. */
function runJest(name, command, args) {
  const file = join(folder, `${name}.json`);
  const startedAt = performance.now();
  const { status } = spawnSync(command, [...args, "--json", `--outputFile=${file}`], { cwd: root, stdio: "inherit" });
  const minutes = (performance.now() - startedAt) / 60_000;
  try {
    const summary = JSON.parse(readFileSync(file, "utf8"));
    return { status, minutes, files: summary.testResults.map(fileResult), passed: summary.numPassedTests, failures: failuresOf(summary) };
  } catch (error) {
    const failure = `${name} wrote no summary: ${error.message}`;
    return { status: status === 0 ? 1 : status, minutes, files: [], passed: 0, failures: [failure] };
  }
}

/** A line for each failed test and each file that could not run. */
const failuresOf = ({ testResults }) =>
  testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    const tests = failed.map(({ fullName, failureMessages }) => `${fullName}: ${firstLineOf(failureMessages[0])}`);
    const lines = status === "failed" && tests.length === 0 ? [`cannot run: ${firstLineOf(message)}`] : tests;
    return lines.map((line) => `${relative(root, name)}: ${line}`);
  });

const firstLineOf = (text = "") =>
  stripVTControlCharacters(text)
    .replace(/^.*Test suite failed to run/, "")
    .trim()
    .split("\n", 1)[0];

const fileResult = ({ name, startTime, endTime }) => ({ path: relative(root, name), minutes: (endTime - startTime) / 60_000 });

const quick = runJest("npm-test", "npm", ["test", "--"]);
const fullJest = ["jest", "--selectProjects", "full"];
const paired = runJest("paired", "npx", [...fullJest, "--maxWorkers=2", ...alonePaths.map((path) => `--testPathIgnorePatterns=/${path}`)]);
const alone = runJest("alone", "npx", [...fullJest, "--maxWorkers=1", ...alonePaths]);
const runs = [quick, paired, alone];

const parts = [{ path: "npm test", minutes: quick.minutes }, ...paired.files, ...alone.files];
const minutesText = (minutes) => `${minutes.toFixed(1)} min`.padStart(9);
console.log(`\n${"Part".padEnd(56)}     Took    Budget`);
for (const { path, minutes } of parts) {
  const budget = budgets[path];
  const note = budget === undefined ? "  no budget" : `${minutesText(budget)}${minutes > budget ? "  OVER" : ""}`;
  console.log(`${path.padEnd(56)}${minutesText(minutes)} ${note}`);
}
const sum = (valueOf) => runs.reduce((total, run) => total + valueOf(run), 0);
console.log(`${"total".padEnd(56)}${minutesText(sum(({ minutes }) => minutes))}`);

console.log(`\nThe ${SLOWEST_SHOWN} slowest test files`);
const files = runs.flatMap((run) => run.files).toSorted((a, b) => b.minutes - a.minutes);
for (const { path, minutes } of files.slice(0, SLOWEST_SHOWN)) console.log(`${`${(minutes * 60).toFixed(1)} s`.padStart(9)}  ${path}`);

const failures = runs.flatMap((run) => run.failures);
if (failures.length > 0) console.log(`\nFailed\n${failures.map((line) => `  ${line}`).join("\n")}`);

console.log(`\n${sum(({ passed }) => passed)} passed, ${failures.length} failed`);
process.exitCode = runs.every(({ status }) => status === 0) ? 0 : 1;
