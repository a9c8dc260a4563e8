import { writeSync } from "node:fs";

const STDOUT = 1;

/**
 * Ends the run with a line `N passed, N failed`, and `, N skipped` if any. A suite that cannot run counts as one failed test,
 * because no other number includes it.
 */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`;
    // Prints at exit: the summary, warnings about open handles and the stop hook come first.
    process.once("exit", () => writeSync(STDOUT, line));
  }
}
