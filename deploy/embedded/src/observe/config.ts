import { parseEnv, port } from "@brand-records/config";
import { z } from "zod";

/** Settings of `npm run observe`. */
export const Settings = z.object({
  PROMETHEUS_PORT: port(9190).describe("Port of Prometheus."),
  ALERTMANAGER_PORT: port(9193).describe("Port of Alertmanager."),
  LOCAL_DIR: z.string().meta({ values: "folder", unset: "`.local`" }).optional().describe("The folder of `npm start`."),
});

export type ObserveConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseObserveConfig = (env: NodeJS.ProcessEnv): ObserveConfig => parseEnv(Settings, env);
