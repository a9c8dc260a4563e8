import { integer, parseEnv, postgresUrl, sharedSettings } from "@brand-records/config";
import { rpcServerSettings } from "@brand-records/rpc";
import { z } from "zod";

const Settings = z.object({
  ...sharedSettings,
  ...rpcServerSettings,
  DATABASE_URL: postgresUrl,
  DATABASE_CONNECTIONS_MAX: integer(10, 2, 200),
});

export type RecordsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): RecordsConfig => parseEnv(Settings, env);
