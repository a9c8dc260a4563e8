import { parseEnv } from "@brand-records/config";
import { eventLogSettings } from "@brand-records/event-log";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";
import { parseSecretKeys } from "./domain/secret-keys.ts";

const Settings = z.object({
  ...serviceSettings,
  ...eventLogSettings,
  /** host:port, or a gRPC target, of accounts: it knows which brands there are. */
  ACCOUNTS_ADDRESS: z.string().min(1),
  /** `id:base64` of 32 bytes, comma-separated. New secrets use the highest id; every id in use has to be there. */
  RECEIVER_SECRET_KEYS: z.string().transform(parseSecretKeys),
  /** Port receivers' URLs may name beside 443. None unless set. */
  RECEIVER_PORTS: z
    .string()
    .default("")
    .transform((text, context) => {
      const ports = text
        .split(",")
        .filter((part) => part !== "")
        .map(Number);
      if (ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) return new Set(ports);
      context.addIssue({ code: "custom", message: "has to be comma-separated port numbers" });
      return z.NEVER;
    }),
});

export type WebhookConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): WebhookConfig => parseEnv(Settings, env);
