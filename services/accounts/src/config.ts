import { MAKE_A_KEY, parseEnv, redisUrl } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";
import { parsePeppers } from "./domain/key-hash.ts";

const Settings = z.object({
  ...serviceSettings,
  /** Without it gateways cache nothing and no epoch is published. */
  REDIS_URL: redisUrl.optional(),
  /** `version:base64` of 32 bytes or more, comma-separated. New keys use the highest version; verification tries all versions. */
  KEY_PEPPERS: z.string().transform(parsePeppers),
});

export type AccountsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): AccountsConfig => parseEnv(Settings, env, { KEY_PEPPERS: MAKE_A_KEY });
