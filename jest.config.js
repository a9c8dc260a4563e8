import { availableParallelism } from "node:os";

/**
 * Tests run from source through swc; the processes of the end-to-end tests run what `tsc -b` built. Files named
 * `*.full.test.ts` need minutes: jest.full.config.js runs them.
 */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,gateway,deploy,test}/**/!(*.full).test.ts"],
  // Test files run in a context of their own, where looking up a global is slow unless it is listed here: one file went from
  // 37 to 19 CPU seconds. Not Date, which fake timers replace, nor Buffer, which CommonJS modules declare themselves.
  sandboxInjectedGlobals: ["Array", "BigInt", "JSON", "Map", "Math", "Number", "Object", "Set", "String"],
  // Tests wait for processes more than they compute: a second worker on two cores shortens the run by a third.
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
