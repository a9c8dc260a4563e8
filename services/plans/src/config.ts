import { parseEnv } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";

const Settings = z.object({
  ...serviceSettings,
  /** host:port, or a gRPC target, of accounts, which knows the members of brands. */
  ACCOUNTS_ADDRESS: z.string().min(1),
});

/** 0.2.0 did not need it. */
const ASKS_ACCOUNTS = "Set it to accounts' host:port: plans asks it who belongs to a brand";

export type PlansConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): PlansConfig => parseEnv(Settings, env, { ACCOUNTS_ADDRESS: ASKS_ACCOUNTS });
