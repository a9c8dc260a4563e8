export { configOrExit } from "./or-exit.ts";
export { ConfigError, parseEnv } from "./parse-env.ts";
export { flag, integer, origin, port, postgresUrl, redisUrl, secretBytes, sharedSettings } from "./settings.ts";
