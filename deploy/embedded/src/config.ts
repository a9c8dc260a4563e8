import { origin, parseEnv, port, postgresUrl, rateLimitSettings, redisUrl, sharedSettings } from "@brand-records/config";
import { z } from "zod";

/** Settings of `npm start`. All other variables are passed on to the processes unchanged. */
const Settings = z.object({
  PORT: port(8080),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: origin.optional(),
  /** Your Postgres instead of the embedded one. */
  DATABASE_URL: postgresUrl.optional(),
  /** Shares the rate limits between gateways; without it they hold within the one gateway process. */
  REDIS_URL: redisUrl.optional(),
  /** Brokers of the event log; without them records hands its events to webhook directly. */
  KAFKA_BROKERS: z.string().optional(),
  /** The folder for data, keys and logs. Default: .local */
  LOCAL_DIR: z.string().optional(),
  ENVIRONMENT: sharedSettings.ENVIRONMENT,
  ...rateLimitSettings,
});

export type LauncherConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): LauncherConfig => parseEnv(Settings, env);
