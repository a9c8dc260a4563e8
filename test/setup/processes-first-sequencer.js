import { createRequire } from "node:module";

/** Jest's sequencer, resolved from jest, because it is not one of our dependencies. */
const require = createRequire(createRequire(import.meta.url).resolve("jest/package.json"));
const core = createRequire(require.resolve("@jest/core"));
const Sequencer = core("@jest/test-sequencer").default;
const { sort: sortAsUsual } = Sequencer.prototype;

/**
 * Runs files that start whole systems first. A fresh clone has no recorded durations, and jest's order by size would leave
 * some of these files for the end, where one worker waits for the other.
 */
export default class ProcessesFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = sortAsUsual.call(this, tests);
    const startsSystems = ({ path }) => /\/(test\/(e2e|faults)|deploy)\//.test(path);
    return [...sorted.filter(startsSystems), ...sorted.filter((test) => !startsSystems(test))];
  }
}
