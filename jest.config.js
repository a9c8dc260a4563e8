import { availableParallelism } from "node:os";

/**
 * Tests run from source through swc; the processes of the end-to-end tests run the code that `tsc -b` compiled.
 * jest.full.config.js runs the files named `*.full.test.ts`, which take minutes.
 */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,gateway,console,deploy,test}/**/!(*.full|*.image).test.ts"],
  // Each test file runs in its own context, where looking up a global is slow unless it is listed here: one file went from 37
  // to 19 CPU seconds. Date is not listed because fake timers replace it, Buffer because CommonJS modules declare it.
  sandboxInjectedGlobals: ["Array", "BigInt", "JSON", "Map", "Math", "Number", "Object", "Set", "String"],
  // Tests mostly wait for processes: a second worker on two cores shortens the run by a third.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  testPathIgnorePatterns: ["/node_modules/", "/dist/"],
  modulePathIgnorePatterns: ["/dist/", "/.local/"],
  transform: {
    "^.+\\.[jt]s$": ["@swc/jest", { jsc: { target: "es2024", parser: { syntax: "typescript" } }, module: { type: "commonjs" } }],
  },
  moduleNameMapper: {
    "^@brand-records/proto/([a-z]+)/v1$": "<rootDir>/proto/gen/$1/v1/$1.ts",
    "^@brand-records/postgres/embedded$": "<rootDir>/packages/postgres/src/embedded/index.ts",
    "^@brand-records/([a-z-]+)$": "<rootDir>/packages/$1/src/index.ts",
  },
  testSequencer: "<rootDir>/test/setup/processes-first-sequencer.js",
  globalSetup: "<rootDir>/test/setup/start-backing-services.ts",
  globalTeardown: "<rootDir>/test/setup/stop-backing-services.ts",
  reporters: ["default", "<rootDir>/test/setup/closing-line-reporter.js"],
  testTimeout: 30_000,
};
