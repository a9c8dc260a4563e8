import config from "./jest.config.js";

/** The tests that take minutes, one file at a time: each loads both cores. */
export default { ...config, testMatch: ["<rootDir>/{packages,services,gateway,console,deploy,test}/**/*.full.test.ts"], maxWorkers: 1 };
