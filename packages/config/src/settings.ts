import { z } from "zod";
import { parseRedisUrl } from "./redis-url.ts";

/** Kinds of settings: which text a variable may have, and the value it becomes. */

/** A port from 0 to 65535. With 0, the system chooses one. */
export const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number")
    .transform(Number)
    .refine((n) => n <= 65_535, "must be at most 65535")
    .default(fallback);

/** A whole number from `min` to `max`. */
export const integer = (fallback: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`)
    .default(fallback);

/** An http or https origin with an optional path; a trailing slash is removed. */
export const origin = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).transform((url) => url.replace(/\/+$/, ""));

/** Proxies whose X-Forwarded-For is trusted: a number of hops, or addresses and subnets, comma-separated. */
export const trustProxy = z
  .string()
  .regex(/^(\d{1,2}|[0-9a-fA-F.:/]+(,\s*[0-9a-fA-F.:/]+)*)$/, "must be a number of hops, or addresses and subnets, comma-separated")
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : text));

/** The hint for missing keys, whose form is `1:` and 32 bytes in base64. */
export const MAKE_A_KEY = 'Make one with: echo "1:$(openssl rand -base64 32)"';

export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" });

/** The URL of a Redis server or cluster: see parseRedisUrl. Remains text, which the launcher passes to other processes. */
export const redisUrl = z.string().superRefine((url, context) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
  }
});

/** Settings of every process. */
export const sharedSettings = {
  /** Environment whose keys are valid: live or test. Default: live. */
  ENVIRONMENT: z.enum(["live", "test"], "must be live or test").default("live"),
  /** Lowest level to log. Default: info. */
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Address for metrics and probes, which are not public. Default: 127.0.0.1. */
  ADMIN_HOST: z.string().default("127.0.0.1"),
  /** Port for metrics and probes. Default: 0, a port that the system chooses. */
  ADMIN_PORT: port(0),
  /** How long a stopping process stays reachable until balancers notice, in milliseconds. Default: 5000. */
  STOP_GRACE_MS: integer(5_000, 0, 60_000),
} as const;

/** Requests accepted per brand in any 60 seconds, by tier. Defaults: 60, 120, 240. */
export const rateLimitSettings = {
  RATE_LIMIT_PLUS: integer(60, 1, 100_000),
  RATE_LIMIT_PRO: integer(120, 1, 100_000),
  RATE_LIMIT_ENTERPRISE: integer(240, 1, 100_000),
} as const;
