import { integer, origin, parseEnv, port, rateLimitSettings, redisUrl, sharedSettings, trustProxy } from "@brand-records/config";
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
  );

const Settings = z
  .object({
    ...sharedSettings,
    ...rpcTlsSettings,
    HOST: z.string().default("0.0.0.0"),
    PORT: port(8080),
    /** The address of the service for callers: the server in the API description and in links. */
    PUBLIC_URL: origin.optional(),
    TRUST_PROXY: trustProxy.optional(),
    /** Origins of web pages that may call the assistants' endpoint, comma-separated; `:*` is every port. PUBLIC_URL's origin always may. No CORS. */
    ALLOWED_ORIGINS: origins,
    ACCOUNTS_ADDRESS: z.string(),
    PLANS_ADDRESS: z.string(),
    RECORDS_ADDRESS: z.string(),
    /** host:port of the console, whose pages the gateway then forwards. Default: none, because an ingress routes them or there is no console. */
    CONSOLE_ADDRESS: z
      .string()
      .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):\d{1,5}$/, "must be host:port")
      .optional(),
    /** Without it limits hold per process, and accounts verifies the key of every request. */
    REDIS_URL: redisUrl.optional(),
    /** If a command takes longer, Redis counts as unavailable, and limits hold per process until it recovers. */
    REDIS_COMMAND_TIMEOUT_MS: integer(20, 1, 1_000),
    ...rateLimitSettings,
    /** How often counts of requests are recorded at accounts: a crash loses no more. */
    USAGE_FLUSH_SECONDS: integer(10, 1, 300),
    /** A request that takes longer fails with `timeout`. */
    REQUEST_DEADLINE_MS: integer(5_000, 100, 60_000),
    /** The time a client has to send its headers, and to send its whole request. */
    HEADERS_TIMEOUT_MS: integer(10_000, 100, 60_000),
    REQUEST_TIMEOUT_MS: integer(30_000, 100, 300_000),
  })
  .transform((settings) => ({ ...settings, PUBLIC_URL: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}` }));

export type GatewayConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): GatewayConfig => parseEnv(Settings, env);
