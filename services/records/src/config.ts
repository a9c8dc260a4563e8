import { parseEnv, rpcTarget } from "@brand-records/config";
import { eventLogSettings } from "@brand-records/event-log";
import { serviceSettings } from "@brand-records/service-runtime";
import { z } from "zod";

export const Settings = z.object({
  ...serviceSettings,
  ...eventLogSettings,
  WEBHOOK_ADDRESS: rpcTarget.optional().describe("webhook, for events without Kafka."),
});

export type RecordsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): RecordsConfig => parseEnv(Settings, env);
