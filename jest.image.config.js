import config from "./jest.config.js";

/** The image: needs buildah and podman, which the full tests do not. */
export default { ...config, testMatch: ["<rootDir>/test/image/*.image.test.ts"], maxWorkers: 1 };
