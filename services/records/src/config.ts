import { parseEnv } from "@brand-records/config";
import { eventLogSettings } from "@brand-records/event-log";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";

const Settings = z.object({
  ...serviceSettings,
  ...eventLogSettings,
  /** The webhook service's gRPC address, for events without Kafka: host:port or a gRPC target. */
  WEBHOOK_ADDRESS: z.string().optional(),
});

export type RecordsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): RecordsConfig => parseEnv(Settings, env);
