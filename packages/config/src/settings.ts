import { z } from "zod";
import { parseRedisUrl } from "./redis-url.ts";

/** Kinds of settings: what a variable's text may be, and what it becomes. */

/** 0 to 65535; 0 lets the system choose. */
export const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number")
    .transform(Number)
    .refine((n) => n <= 65_535, "must be at most 65535")
    .default(fallback);

/** A whole number between two bounds, both allowed. */
export const integer = (fallback: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`)
    .default(fallback);

/** An http(s) origin, perhaps with a path; kept without a trailing slash. */
export const origin = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).transform((url) => url.replace(/\/+$/, ""));

/** What to do about keys that are not set, whose form is `1:` and 32 bytes in base64. */
export const MAKE_A_KEY = 'Make one with: echo "1:$(openssl rand -base64 32)"';

export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" });

/** A Redis or a Redis Cluster: see parseRedisUrl. Kept as text, which processes hand on. */
export const redisUrl = z.string().superRefine((url, context) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
  }
});

/** Settings every process shares. */
export const sharedSettings = {
  ENVIRONMENT: z.enum(["live", "test"], "must be live or test").default("live"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Metrics and probes. Loopback unless told otherwise: they are not for the public. */
  ADMIN_HOST: z.string().default("127.0.0.1"),
  ADMIN_PORT: port(0),
  /** How long a stopping process stays reachable while balancers learn of it. */
  STOP_GRACE_MS: integer(5_000, 0, 60_000),
} as const;

/** Accepted requests of a brand in any 60 seconds, by its tier. */
export const rateLimitSettings = {
  RATE_LIMIT_PLUS: integer(60, 1, 100_000),
  RATE_LIMIT_PRO: integer(120, 1, 100_000),
  RATE_LIMIT_ENTERPRISE: integer(240, 1, 100_000),
} as const;
