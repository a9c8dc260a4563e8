import { createRequire } from "node:module";

/** Jest's sequencer, resolved from jest, because it is not one of our dependencies. */
const require = createRequire(createRequire(import.meta.url).resolve("jest/package.json"));
const { default: JestSequencer } = createRequire(require.resolve("@jest/core"))("@jest/test-sequencer");
const { sort: sortAsUsual } = JestSequencer.prototype;

/**
 * Runs first what takes minutes, then what starts whole systems: at the end of a run, one worker would wait for the other. A fresh clone has
 * no recorded durations. With TEST_ORDER=random the order is random, as scripts/repeat asks.
 */
export default class Sequencer extends JestSequencer {
  sort(tests) {
    const rankOf =
      process.env.TEST_ORDER === "random"
        ? () => Math.random()
        : ({ path }) => Number(!/\.(full|release)\.test\.ts$/.test(path)) + Number(!/\/(test|deploy)\//.test(path));
    const ranks = new Map(tests.map((test) => [test, rankOf(test)]));
    return sortAsUsual.call(this, tests).toSorted((a, b) => ranks.get(a) - ranks.get(b));
  }
}
