import { createRequire } from "node:module";

/** Jest's own, as jest itself finds it: it is no dependency of ours. */
const require = createRequire(createRequire(import.meta.url).resolve("jest/package.json"));
const core = createRequire(require.resolve("@jest/core"));
const Sequencer = core("@jest/test-sequencer").default;
const { sort: sortAsUsual } = Sequencer.prototype;

/**
 * Files that start whole systems come first. A fresh clone knows no durations yet, and by size jest would leave some of them
 * for the end, where one worker waits for the other.
 */
export default class ProcessesFirstSequencer extends Sequencer {
  sort(tests) {
    const sorted = sortAsUsual.call(this, tests);
    const startsSystems = ({ path }) => /\/(test\/(e2e|faults)|deploy)\//.test(path);
    return [...sorted.filter(startsSystems), ...sorted.filter((test) => !startsSystems(test))];
  }
}
