import {
  host,
  integer,
  origin,
  parseEnv,
  port,
  rateLimitSettings,
  recordsCells,
  redisTlsCa,
  redisUrl,
  rpcTarget,
  sharedSettings,
  tracingSettings,
  trustProxy,
} from "@brand-records/config";
import { rpcTlsSettings } from "@brand-records/rpc";
import { z } from "zod";

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:(\d{1,5}|\*))?$/;

const origins = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ""),
  )
  .refine(
    (list) => list.every((origin) => ORIGIN.test(origin)),
    "must be origins such as https://app.example or http://localhost:*, comma-separated",
  )
  .meta({ values: "origins, comma-separated" });

export const Settings = z
  .object({
    ...sharedSettings,
    ...tracingSettings,
    ...rpcTlsSettings,
    HOST: host("0.0.0.0").describe("Address for HTTP."),
    PORT: port(8080).describe("Port for HTTP."),
    PUBLIC_URL: origin
      .meta({ unset: "`http://localhost:PORT`" })
      .optional()
      .describe("The service as callers reach it: the server in the API description and in links."),
    TRUST_PROXY: trustProxy.optional().describe("Proxies whose `X-Forwarded-For` is trusted, comma-separated."),
    ALLOWED_ORIGINS: origins.describe(
      "Origins of web pages that may call the assistants' endpoint; `:*` is every port. `PUBLIC_URL`'s origin always may. No CORS.",
    ),
    ACCOUNTS_ADDRESS: rpcTarget.describe("accounts, which verifies keys."),
    PLANS_ADDRESS: rpcTarget.describe("plans, which prepares plans."),
    RECORDS_ADDRESS: rpcTarget.describe("records, which lists records."),
    RECORDS_CELLS: recordsCells.describe(
      "records in the [cells](decisions/0032-cells.md) that have a name. The same for every gateway, before a brand is in one.",
    ),
    CONSOLE_ADDRESS: z
      .string()
      .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):\d{1,5}$/, "must be host:port")
      .meta({ values: "host:port" })
      .optional()
      .describe("The console, whose pages the gateway then forwards. Without it an ingress routes them, or there is no console."),
    REDIS_URL: redisUrl
      .optional()
      .describe(
        "The same Redis for every gateway and accounts. Without it limits hold per process, and accounts verifies the key of every request.",
      ),
    REDIS_TLS_CA: redisTlsCa,
    REDIS_COMMAND_TIMEOUT_MS: integer(20, 1, 1_000).describe(
      "If a command takes longer, Redis counts as unavailable, and limits hold per process until it recovers.",
    ),
    ...rateLimitSettings,
    USAGE_FLUSH_SECONDS: integer(10, 1, 300).describe("How often counts of requests are recorded at accounts: a crash loses no more."),
    REQUEST_DEADLINE_MS: integer(5_000, 100, 60_000).describe("A request that takes longer fails with `timeout`."),
    HEADERS_TIMEOUT_MS: integer(10_000, 100, 60_000).describe("The time a client has to send its headers."),
    REQUEST_TIMEOUT_MS: integer(30_000, 100, 300_000).describe("The time a client has to send its whole request."),
    // Traefik keeps idle connections for 90 s, most balancers for 60 s, Google's for 600 s and Envoy for an hour.
    KEEP_ALIVE_MS: integer(95_000, 1_000, 7_200_000).describe(
      "How long a connection stays open after a response: longer than [the proxy before it](kubernetes.md#reaching-it-from-outside) keeps it.",
    ),
  })
  .transform((settings) => ({ ...settings, PUBLIC_URL: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}` }));

export type GatewayConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): GatewayConfig => parseEnv(Settings, env);
