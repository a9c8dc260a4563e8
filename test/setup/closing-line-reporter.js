import { writeSync } from "node:fs";

const STDOUT = 1;

/**
 * Ends the run with `N passed, N failed` (and `, N skipped` if there are some) on a line of its own. A suite that could not
 * run counts as a failed test: its tests are not in any other number.
 */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`;
    // Not now: the summary, warnings about open handles and the stop hook still print.
    process.once("exit", () => writeSync(STDOUT, line));
  }
}
