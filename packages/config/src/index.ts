export { parseCellDatabases } from "./cell-databases.ts";
export { loadConfig, ConfigError, parseEnv } from "./parse-env.ts";
export { parseRedisUrl, type RedisAddress } from "./redis-url.ts";
export { readFileOf, readPem } from "./read-pem.ts";
export { readSecretFile } from "./secret-files.ts";
export {
  CELL_NAME,
  CELL_NAME_RULE,
  host,
  integer,
  isHttpsOrLocal,
  isLoopbackName,
  MAKE_A_KEY,
  origin,
  pemFile,
  port,
  postgresUrl,
  rateLimitSettings,
  recordsCells,
  redisTlsCa,
  redisUrl,
  rpcTarget,
  sharedSettings,
  trueOrFalse,
  trustProxy,
  hasSignInLinks,
} from "./settings.ts";
export { parseTracing, tracingSettings, type TracingConfig } from "./tracing.ts";
