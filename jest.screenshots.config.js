import config from "./jest.config.js";

/** `npm run screenshots`: pictures of the console to look at. No test depends on them. */
export default { ...config, testMatch: ["<rootDir>/test/screenshots/take-screenshots.ts"], reporters: ["default"], testTimeout: 30_000 };
