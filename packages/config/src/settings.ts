import { isIP } from "node:net";
import { z } from "zod";
import { parseRedisUrl } from "./redis-url.ts";

/**
 * Kinds of settings: which text a variable may have, and the value it becomes. docs/settings.md is made from their metadata:
 * `values` (the range), `unset` (what applies if it is not set, unless the schema has a default), `secret`, and the `description` that each
 * setting has where it is declared.
 */

/** A port from 0 to 65535. With 0, the system chooses one. */
export const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number")
    .transform(Number)
    .refine((n) => n <= 65_535, "must be at most 65535")
    .meta({ values: "0 to 65535" })
    .default(fallback);

/** A whole number from `min` to `max`. */
export const integer = (fallback: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`)
    .meta({ values: `${min} to ${max}` })
    .default(fallback);

/** An http or https origin with an optional path; a trailing slash is removed. */
export const origin = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .transform((url) => url.replace(/\/+$/, ""))
  .meta({ values: "http or https URL" });

/** Browsers treat these as secure without TLS. */
const LOOPBACK_NAME = /^(localhost|127\.0\.0\.1|\[::1\])$/;

export const isLoopbackName = (hostname: string): boolean => LOOPBACK_NAME.test(hostname);

/** What passes over plain http can be read and changed on the way, unless it stays on this machine. */
export const isHttpsOrLocal = ({ protocol, hostname }: URL): boolean => protocol === "https:" || isLoopbackName(hostname);

/** Proxies whose X-Forwarded-For is trusted: a number of hops, or addresses and subnets, comma-separated. */
export const trustProxy = z
  .string()
  .refine(
    (text) => /^\d{1,2}$/.test(text) || text.split(/,\s*/).every(isAddressOrSubnet),
    "must be a number of hops, or addresses and subnets such as 10.0.0.0/8, comma-separated",
  )
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : text))
  .meta({ values: "number of hops, or addresses and subnets" });

/** Bits of an address by its version, which `isIP` returns. */
const ADDRESS_BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/**
 * Whether the text is an address, or a subnet with a prefix of at least one bit. Express would accept more: it takes `1` for 0.0.0.1, and
 * throws at `cafe` only when the first request arrives.
 */
function isAddressOrSubnet(text: string): boolean {
  const [, address = "", prefix] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = ADDRESS_BITS[isIP(address)];
  if (bits === undefined) return false;
  return prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= bits);
}

/** The hint for missing keys, whose form is `1:` and 32 bytes in base64. */
export const MAKE_A_KEY = 'Make one with: echo "1:$(openssl rand -base64 32)"';

/** A secret: it holds a password. */
export const postgresUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" })
  .meta({ values: "postgres:// URL", secret: true });

/** The URL of a Redis server or cluster: see parseRedisUrl. Remains text, which the launcher passes to other processes. A secret. */
export const redisUrl = z
  .string()
  .superRefine((url, context) => {
    try {
      parseRedisUrl(url);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    }
  })
  .meta({ values: "[Redis URL](architecture.md#redis)", secret: true });

/** A file of certificates or a key. */
export const pemFile = z.string().meta({ values: "PEM file" });

export const redisTlsCa = pemFile.optional().describe("The authorities of Redis' certificate, with `rediss://`. Without it those of Node.");

/** An address or name to listen on. */
export const host = (fallback: string) => z.string().meta({ values: "address" }).default(fallback);

/** Where a service is. */
export const rpcTarget = z.string().min(1).meta({ values: "host:port or gRPC target" });

export const CELL_NAME = /^[a-z][a-z0-9-]{0,30}$/;
export const CELL_NAME_RULE = "must be a name of lower-case letters, digits and hyphens, up to 31 characters";

/** One value for each cell that has a name, by the name. Values may have commas: an entry begins with a name. */
const byCell = (form: string, isValue: (value: string) => boolean = () => true) =>
  z
    .string()
    .default("")
    .transform((text) => text.split(/,(?=[^,:]*=)/).filter((entry) => entry !== ""))
    .transform((entries) => entries.map((entry) => /^([^=]+)=(.+)$/.exec(entry)?.slice(1) ?? [entry]))
    .refine(
      (cells) =>
        cells.every(([name = "", value]) => CELL_NAME.test(name) && value !== undefined && isValue(value)) &&
        new Map(cells as Cell[]).size === cells.length,
      `must be name=${form}, comma-separated; names are of lower-case letters, digits and hyphens, each once`,
    )
    .transform((cells): Readonly<Record<string, string>> => Object.fromEntries(cells as Cell[]))
    .meta({ values: `name=${form}, comma-separated` });
type Cell = [string, string];

/** Where records are in each cell that has a name. */
export const recordsCells = byCell("host:port");

/** The databases of those cells. A secret: they hold passwords. */
export const recordsCellDatabases = byCell("postgres://…", (url) => postgresUrl.safeParse(url).success).meta({ secret: true });

export const trueOrFalse = z.enum(["true", "false"], "must be true or false");

/** A share from 0 to 1. */
export const share = (fallback: number) =>
  z
    .string()
    .regex(/^\d(\.\d{1,9})?$/, "must be a number from 0 to 1")
    .transform(Number)
    .refine((n) => n <= 1, "must be at most 1")
    .meta({ values: "0 to 1" })
    .default(fallback);

/** Settings of every process. */
export const sharedSettings = {
  ENVIRONMENT: z.enum(["live", "test"], "must be live or test").default("live").describe("Environment whose API keys are valid."),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lowest level to [log](logs.md)."),
  LOG_FILE: z
    .string()
    .meta({ values: "file" })
    .optional()
    .describe("The file that standard output appends to: the process rotates it. `npm start` sets it. Without it nothing is rotated."),
  ADMIN_HOST: host("127.0.0.1").describe("Address for [metrics](metrics.md) and probes, which are not public."),
  ADMIN_PORT: port(9_090).describe("Port for metrics and probes."),
  STOP_GRACE_MS: integer(5_000, 0, 60_000).describe("How long a stopping process stays reachable until balancers notice, in milliseconds."),
} as const;

/** The rate limits of each tier: the gateway enforces them, the console shows them. */
export const rateLimitSettings = {
  RATE_LIMIT_PLUS: integer(60, 1, 100_000).describe(
    "Requests accepted of a Plus brand in any 60 seconds. Set the same for both processes.",
  ),
  RATE_LIMIT_PRO: integer(120, 1, 100_000).describe("The same of a Pro brand."),
  RATE_LIMIT_ENTERPRISE: integer(240, 1, 100_000).describe("The same of an Enterprise brand."),
} as const;

/** Whether one-time links sign people in to the console. Unless it is set, they do where no OpenID provider does. */
export const hasSignInLinks = ({
  SIGN_IN_LINKS,
  OIDC_ISSUER,
}: {
  readonly SIGN_IN_LINKS?: string | undefined;
  readonly OIDC_ISSUER?: string | undefined;
}): boolean => (SIGN_IN_LINKS ? SIGN_IN_LINKS === "true" : !OIDC_ISSUER);
