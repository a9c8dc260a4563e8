import { parseEnv } from "@brand-records/config";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";

const Settings = z.object(serviceSettings);

export type PlansConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): PlansConfig => parseEnv(Settings, env);
