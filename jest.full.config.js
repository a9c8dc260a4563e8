import config from "./jest.config.js";

/** What needs minutes. One file at a time: each of them loads both cores by itself. */
export default { ...config, testMatch: ["<rootDir>/{packages,services,gateway,deploy,test}/**/*.full.test.ts"], maxWorkers: 1 };
