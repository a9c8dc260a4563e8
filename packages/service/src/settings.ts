import { integer, postgresUrl, sharedSettings } from "@brand-records/config";
import { rpcServerSettings } from "@brand-records/rpc";

/** The settings of every service with a schema in Postgres and a gRPC server. */
export const serviceSettings = {
  ...sharedSettings,
  ...rpcServerSettings,
  DATABASE_URL: postgresUrl,
  DATABASE_CONNECTIONS_MAX: integer(10, 2, 200),
} as const;
