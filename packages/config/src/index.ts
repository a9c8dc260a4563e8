export { configOrExit } from "./or-exit.ts";
export { ConfigError, parseEnv } from "./parse-env.ts";
export { integer, origin, port, postgresUrl, rateLimitSettings, redisUrl, sharedSettings } from "./settings.ts";
