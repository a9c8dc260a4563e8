import { integer, parseEnv } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";

const Settings = z.object({
  ...serviceSettings,
  /** Pending plans a brand may have. */
  PENDING_PLANS_MAX: integer(200, 1, 100_000),
});

export type PlansConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): PlansConfig => parseEnv(Settings, env);
