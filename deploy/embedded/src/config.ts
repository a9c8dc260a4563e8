import { origin, parseEnv, port, postgresUrl, rateLimitSettings, redisUrl, sharedSettings } from "@brand-records/config";
import { z } from "zod";

/** What a person may set before `npm start`. Everything else is passed on to the processes as it is. */
const Settings = z.object({
  PORT: port(8080),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: origin.optional(),
  /** An own Postgres instead of the embedded one. */
  DATABASE_URL: postgresUrl.optional(),
  /** Shared rate limits; without it they hold within the one gateway process. */
  REDIS_URL: redisUrl.optional(),
  /** Brokers of the event log; without it records hands its events to webhook itself. */
  KAFKA_BROKERS: z.string().optional(),
  /** Where the run keeps its data, keys and logs. */
  LOCAL_DIR: z.string().optional(),
  ENVIRONMENT: sharedSettings.ENVIRONMENT,
  ...rateLimitSettings,
});

export type LauncherConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): LauncherConfig => parseEnv(Settings, env);
