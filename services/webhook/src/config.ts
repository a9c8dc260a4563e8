import { integer, MAKE_A_KEY, origin, parseEnv, rpcTarget, trueOrFalse } from "@brand-records/config";
import { eventLogSettings } from "@brand-records/event-log";
import { serviceSettings } from "@brand-records/service-runtime";
import { z } from "zod";
import { EGRESS_PROXY_MODES, parseEgressProxy } from "./domain/egress-proxy.ts";
import { RETRY_DELAYS_SECONDS } from "./domain/retry-schedule.ts";
import { parseSecretKeys } from "./domain/secret-keys.ts";

export const Settings = z.object({
  ...serviceSettings,
  ...eventLogSettings,
  ACCOUNTS_ADDRESS: rpcTarget.describe("accounts, which knows the brands."),
  RECEIVER_SECRET_KEYS: z
    .string()
    .transform(parseSecretKeys)
    .meta({ values: "`id:base64` of 32 bytes, comma-separated", secret: true })
    .describe(
      "Encrypt the receivers' signing secrets. New secrets use the highest id that every process has. Every id in use must be present.",
    ),
  PUBLIC_URL: origin
    .default("http://localhost:8080")
    .describe("Origin of the gateway as callers reach it: the start of `dashboard_url` in deliveries."),
  HEADER_WORD: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,30}$/, "must be letters and digits only, beginning with a capital letter")
    .meta({ values: "1 to 31 letters and digits, beginning with a capital" })
    .default("Service")
    .describe("The word in header names: `X-Service-Signature`."),
  RETENTION_DAYS: integer(30, 1, 3_650).describe("How long events, finished deliveries and attempts are kept."),
  SENDING_MAX: integer(2_000, 1, 20_000).describe(
    "Attempts in flight in this process; beyond half, only to receivers with none in flight.",
  ),
  DELIVERY_DEADLINE_MS: integer(15_000, 100, 18_000).describe(
    "For a whole attempt. A process that stops finishes the attempts in flight, within 20 s after its grace period.",
  ),
  RETRY_DELAYS_SECONDS: z
    .string()
    .transform((text) => text.split(",").map(Number))
    .refine((delays) => delays.every((delay) => delay >= 0 && delay <= 604_800), "must be comma-separated numbers of seconds")
    .meta({ values: "numbers from 0 to 604800, comma-separated" })
    .default(RETRY_DELAYS_SECONDS as number[])
    .describe("Seconds after each failed attempt but the last. Fractions are allowed."),
  RECEIVER_DNS_SERVERS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((server) => server !== ""))
    .meta({ values: "host:port, comma-separated", unset: "the system's" })
    .describe("Resolvers of receivers' names."),
  EGRESS_PROXY_URL: z
    .string()
    .transform((text, context) => {
      try {
        return parseEgressProxy(text);
      } catch (error) {
        context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    })
    .meta({ values: "`http://[user:password@]host:port`", secret: true })
    .optional()
    .describe("The proxy that [every delivery passes](webhooks.md#networks), with CONNECT. User and password are percent-encoded."),
  EGRESS_PROXY_MODE: z
    .enum(EGRESS_PROXY_MODES, "must be address or name")
    .default("address")
    .describe(
      "`address`: webhook resolves and checks names, and hands over an address. `name`: it hands over the name, and the proxy alone keeps deliveries from private addresses.",
    ),
  RECEIVERS_ON_LOOPBACK: trueOrFalse
    .default("false")
    .describe("For trials only: allows receivers on this machine, over http too. `npm start` sets it."),
  RECEIVER_PORTS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((port) => port !== ""))
    .transform((ports) => new Set(ports.map(Number)))
    .refine(
      (ports) => [...ports].every((port) => Number.isInteger(port) && port > 0 && port < 65_536),
      "must be comma-separated port numbers",
    )
    .meta({ values: "ports, comma-separated" })
    .describe("Ports in addition to 443 that URLs of receivers may name."),
});

export type WebhookConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): WebhookConfig => parseEnv(Settings, env, { RECEIVER_SECRET_KEYS: MAKE_A_KEY });

/** Processes of one group share the messages of the log. */
export const GROUP = "webhook";
