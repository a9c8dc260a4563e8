import { integer, postgresUrl, sharedSettings } from "@brand-records/config";
import { rpcServerSettings } from "@brand-records/rpc";

/** Settings of every service that has a schema in Postgres and is reached over gRPC. */
export const serviceSettings = {
  ...sharedSettings,
  ...rpcServerSettings,
  DATABASE_URL: postgresUrl,
  DATABASE_CONNECTIONS_MAX: integer(10, 2, 200),
} as const;
