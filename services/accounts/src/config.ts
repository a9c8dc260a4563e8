import { integer, MAKE_A_KEY, parseEnv, redisUrl } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";
import { parsePeppers } from "./domain/key-hash.ts";

const Settings = z.object({
  ...serviceSettings,
  /** Without it gateways cache nothing and no epoch is published. */
  REDIS_URL: redisUrl.optional(),
  /** `version:base64` of 32 bytes or more, comma-separated. New keys use the highest version; verification tries all versions. */
  KEY_PEPPERS: z.string().transform(parsePeppers),
  /** A session ends if it is not used for this long. */
  SESSION_IDLE_SECONDS: integer(7_200, 60, 86_400),
  /** A session ends after this time, used or not. */
  SESSION_SECONDS_MAX: integer(43_200, 60, 604_800),
  /** Days for which entries of the audit log are kept. */
  AUDIT_RETENTION_DAYS: integer(730, 1, 36_500),
  /** Days for which usage is kept. */
  USAGE_RETENTION_DAYS: integer(31, 1, 3_650),
});

export type AccountsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): AccountsConfig => parseEnv(Settings, env, { KEY_PEPPERS: MAKE_A_KEY });
