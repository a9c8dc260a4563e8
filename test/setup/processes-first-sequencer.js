import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Jest's sequencer, resolved from jest, because it is not one of our dependencies. */
const require = createRequire(createRequire(import.meta.url).resolve("jest/package.json"));
const core = createRequire(require.resolve("@jest/core"));
const Sequencer = core("@jest/test-sequencer").default;
const { sort: sortAsUsual } = Sequencer.prototype;

/** Minutes of the full tests, by path. */
const budgets = Object.entries(JSON.parse(readFileSync(new URL("../budgets.json", import.meta.url), "utf8")));

/**
 * Runs the files with the largest budgets first, and then those that start whole systems. A fresh clone has no recorded durations, and
 * jest's order by size would leave some of these files for the end, where one worker waits for the other.
 */
export default class ProcessesFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = sortAsUsual.call(this, tests);
    const startsSystems = ({ path }) => /\/(test\/(e2e|faults)|deploy)\//.test(path);
    const budgetOf = ({ path }) => budgets.find(([part]) => path.endsWith(`/${part}`))?.[1] ?? 0;
    return sorted.toSorted((a, b) => budgetOf(b) - budgetOf(a) || Number(startsSystems(b)) - Number(startsSystems(a)));
  }
}
