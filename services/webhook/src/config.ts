import { integer, MAKE_A_KEY, origin, parseEnv } from "@brand-records/config";
import { eventLogSettings } from "@brand-records/event-log";
import { serviceSettings } from "@brand-records/service";
import { z } from "zod";
import { RETRY_DELAYS_SECONDS } from "./domain/retry-schedule.ts";
import { parseSecretKeys } from "./domain/secret-keys.ts";

const Settings = z.object({
  ...serviceSettings,
  ...eventLogSettings,
  /** host:port, or a gRPC target, of accounts, which knows the brands. */
  ACCOUNTS_ADDRESS: z.string().min(1),
  /** `id:base64` of 32 bytes, comma-separated. New secrets use the highest id. Every id in use must be present. */
  RECEIVER_SECRET_KEYS: z.string().transform(parseSecretKeys),
  /** Origin of the gateway as callers reach it: the start of `dashboard_url` in deliveries. */
  PUBLIC_URL: origin.default("http://localhost:8080"),
  /** The variable part of header names: X-<HEADER_WORD>-Signature. */
  HEADER_WORD: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,30}$/, "must be letters and digits only, beginning with a capital letter")
    .default("Service"),
  /** Days for which events, deliveries and attempts are kept. */
  RETENTION_DAYS: integer(30, 1, 3_650),
  /** Attempts in flight in this process. */
  SENDING_MAX: integer(2_000, 1, 20_000),
  /** For a whole attempt. A process that stops finishes the attempts in flight, within 25 s in total. */
  DELIVERY_DEADLINE_MS: integer(15_000, 100, 18_000),
  /** Seconds after each failed attempt but the last, comma-separated. Fractions are allowed. */
  RETRY_DELAYS_SECONDS: z
    .string()
    .transform((text, context) => {
      const delays = text.split(",").map(Number);
      if (delays.every((delay) => Number.isFinite(delay) && delay >= 0 && delay <= 604_800)) return delays;
      context.addIssue({ code: "custom", message: "must be comma-separated numbers of seconds" });
      return z.NEVER;
    })
    .default(RETRY_DELAYS_SECONDS as number[]),
  /** host:port of DNS resolvers, comma-separated. Default: the system's. */
  RECEIVER_DNS_SERVERS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((server) => server !== "")),
  /** For development only: allows receivers on this machine, over http too. */
  RECEIVERS_ON_LOOPBACK: z.enum(["true", "false"], "must be true or false").default("false"),
  /** Ports in addition to 443 that URLs of receivers may name, comma-separated. Default: none. */
  RECEIVER_PORTS: z
    .string()
    .default("")
    .transform((text, context) => {
      const ports = text
        .split(",")
        .filter((part) => part !== "")
        .map(Number);
      if (ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) return new Set(ports);
      context.addIssue({ code: "custom", message: "must be comma-separated port numbers" });
      return z.NEVER;
    }),
});

export type WebhookConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): WebhookConfig => parseEnv(Settings, env, { RECEIVER_SECRET_KEYS: MAKE_A_KEY });
