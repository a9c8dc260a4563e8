import { integer, postgresUrl, sharedSettings, tracingSettings, trueOrFalse } from "@brand-records/config";
import { rpcServerSettings } from "@brand-records/rpc";

/** Settings of a service and of its `migrate.js`. */
export const migrationSettings = {
  MIGRATION_DATABASE_URL: postgresUrl
    .meta({ unset: "`DATABASE_URL`" })
    .optional()
    .describe("A login that owns the schema and migrates it; `DATABASE_URL`'s login then gets the rights it needs."),
} as const;

/** The settings of every service with a schema in Postgres and a gRPC server. */
export const serviceSettings = {
  ...sharedSettings,
  ...tracingSettings,
  ...rpcServerSettings,
  DATABASE_URL: postgresUrl.describe("The service's database: its login owns a schema with the service's name, or may create it."),
  ...migrationSettings,
  MIGRATE_AT_START: trueOrFalse
    .default("true")
    .describe("With false, the service waits, not ready, until `migrate.js` has brought the schema to its version."),
  DATABASE_CONNECTIONS_MAX: integer(10, 2, 200).describe(
    "Connections of the process's pool. Those that listen for notifications come on top.",
  ),
} as const;
