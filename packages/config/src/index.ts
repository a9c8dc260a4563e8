export { loadConfig } from "./load-config.ts";
export { parseRedisUrl, type RedisAddress } from "./redis-url.ts";
export { ConfigError, parseEnv } from "./parse-env.ts";
export { integer, MAKE_A_KEY, origin, port, postgresUrl, rateLimitSettings, redisUrl, sharedSettings, trustProxy } from "./settings.ts";
export { hasSignInLinks } from "./sign-in-links.ts";
