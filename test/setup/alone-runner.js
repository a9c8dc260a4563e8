import { createRequire } from "node:module";

/** Jest's runner, resolved from jest, because it is not one of our dependencies. */
const require = createRequire(createRequire(import.meta.url).resolve("jest/package.json"));
const { default: TestRunner } = createRequire(require.resolve("@jest/core"))("jest-runner");

/** Runs its files one after another, when those of other runners have ended. */
export default class AloneRunner extends TestRunner {
  isSerial = true;
}
