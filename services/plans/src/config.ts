import { parseEnv, rpcTarget } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service-runtime";
import { z } from "zod";

export const Settings = z.object({
  ...serviceSettings,
  ACCOUNTS_ADDRESS: rpcTarget.describe("accounts, which knows the members of brands."),
});

const ASKS_ACCOUNTS = "Set it to accounts' host:port: plans asks it who belongs to a brand";

export type PlansConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): PlansConfig => parseEnv(Settings, env, { ACCOUNTS_ADDRESS: ASKS_ACCOUNTS });
