import config from "./jest.config.js";

/** The tests that take minutes, one file at a time; scripts/test-full.js runs some of them in pairs. */
export default { ...config, testMatch: ["<rootDir>/{packages,services,gateway,console,deploy,test}/**/*.full.test.ts"], maxWorkers: 1 };
