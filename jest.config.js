import { availableParallelism } from "node:os";

const CODE = "<rootDir>/{packages,clients,services,gateway,console,brandctl,deploy,test}/**";

/** Tests run from source through swc; the processes of the end-to-end tests run what `npm run build` bundled. */
const project = {
  testEnvironment: "node",
  // Each test file runs in its own context, where looking up a global is slow unless it is listed here: one file went from 37
  // to 19 CPU seconds. Date is not listed because fake timers replace it, Buffer because CommonJS modules declare it.
  sandboxInjectedGlobals: ["Array", "BigInt", "JSON", "Map", "Math", "Number", "Object", "Set", "String"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/"],
  modulePathIgnorePatterns: ["/dist/", "/.local/"],
  transform: {
    "^.+\\.[jt]s$": ["@swc/jest", { jsc: { target: "es2024", parser: { syntax: "typescript" } }, module: { type: "commonjs" } }],
  },
  // These are published as ES modules only, which jest cannot require.
  transformIgnorePatterns: ["/node_modules/(?!(jose|oauth4webapi|openid-client)/)"],
  moduleNameMapper: {
    "^@brand-records/proto/methods$": "<rootDir>/proto/gen/methods.ts",
    "^@brand-records/proto/([a-z]+)/v1$": "<rootDir>/proto/gen/$1/v1/$1.ts",
    "^@brand-records/postgres/embedded$": "<rootDir>/packages/postgres/src/embedded/index.ts",
    "^@brand-records/brandctl$": "<rootDir>/brandctl/src/index.ts",
    "^@brand-records/console-contract$": "<rootDir>/console/contract/src/index.ts",
    "^@brand-records/client$": "<rootDir>/clients/client/src/index.ts",
    "^@brand-records/client/signing$": "<rootDir>/clients/client/src/webhooks/sign-delivery.ts",
    "^@brand-records/client/(express|fetch|hono)$": "<rootDir>/clients/client/src/webhooks/$1.ts",
    "^@brand-records/([a-z-]+)$": "<rootDir>/packages/$1/src/index.ts",
  },
  globalSetup: "<rootDir>/test/setup/start-backing-services.ts",
  globalTeardown: "<rootDir>/test/setup/stop-backing-services.ts",
};

/** Load both cores, or have figures that another system on the machine would change. */
const ALONE = ["drills/[^/]+", "ledger[^/]*", "rolling/[^/]+", "redis-cluster-failover"].map((name) => `/${name}\\.full\\.test\\.ts$`);

/**
 * The tiers: `npm test` runs `quick`, `.ci/run` also `full` and `alone`, a release also `release`. `--selectProjects` takes every word up to
 * the next option: paths stand before it, and package.json has an option behind it.
 */
export default {
  projects: [
    { ...project, displayName: "quick", testMatch: [`${CODE}/!(*.full|*.release).test.ts`] },
    {
      ...project,
      displayName: "full",
      testMatch: [`${CODE}/*.full.test.ts`],
      testPathIgnorePatterns: [...project.testPathIgnorePatterns, ...ALONE],
    },
    { ...project, displayName: "alone", testRegex: ALONE, runner: "<rootDir>/test/setup/alone-runner.js" },
    { ...project, displayName: "release", testMatch: [`${CODE}/*.release.test.ts`], runner: "<rootDir>/test/setup/alone-runner.js" },
    // Pictures of the console to look at. No test depends on them.
    { ...project, displayName: "screenshots", testMatch: ["<rootDir>/test/screenshots/take-screenshots.ts"] },
  ],
  // Tests mostly wait for processes: on two cores `npm test` takes 258 s with two workers, and 213 with three.
  maxWorkers: availableParallelism() + 1,
  // Bounds what hangs. Waits have bounds of their own, below it, whose messages say what was still wrong.
  testTimeout: 120_000,
  testSequencer: "<rootDir>/test/setup/sequencer.js",
  reporters: ["default", "<rootDir>/test/setup/closing-line-reporter.js"],
};
