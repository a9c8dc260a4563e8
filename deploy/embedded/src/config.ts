import { host, integer, origin, parseEnv, port, postgresUrl, rateLimitSettings, redisUrl, sharedSettings } from "@brand-records/config";
import { z } from "zod";

/** Settings of `npm start`. All other variables are passed on to the processes unchanged. */
export const Settings = z.object({
  PORT: port(8080).describe("Port of the gateway."),
  HOST: host("127.0.0.1").describe("Address of the gateway."),
  PUBLIC_URL: origin.meta({ unset: "`http://localhost:PORT`" }).optional().describe("The service as callers and browsers reach it."),
  DATABASE_URL: postgresUrl.meta({ unset: "an embedded Postgres" }).optional().describe("Your Postgres instead of the embedded one."),
  REDIS_URL: redisUrl.optional().describe("Shares the rate limits between gateways; without it they hold within the one gateway process."),
  KAFKA_BROKERS: z
    .string()
    .meta({ values: "host:port, comma-separated" })
    .optional()
    .describe("Brokers of the event log; without them records hands its events to webhook directly."),
  CELLS: integer(1, 1, 5).describe(
    "Embedded databases of records, for trying [cells](operations.md#cells): `npm start -- --cells 2`. Later runs have as many.",
  ),
  LOCAL_DIR: z.string().meta({ values: "folder", unset: "`.local`" }).optional().describe("The folder for data, keys and logs."),
  ENVIRONMENT: sharedSettings.ENVIRONMENT,
  ...rateLimitSettings,
});

export type LauncherConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): LauncherConfig => parseEnv(Settings, env);
