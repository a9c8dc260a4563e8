import { integer, origin, parseEnv, port, rateLimitSettings, sharedSettings, trustProxy } from "@brand-records/config";
import { rpcTlsSettings } from "@brand-records/rpc";
import { z } from "zod";

/** Browsers treat these as secure without TLS. */
const LOOPBACK_NAME = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** What passes over plain http can be read and changed on the way, unless it stays on this machine. */
const isSafe = ({ protocol, hostname }: URL): boolean => protocol === "https:" || LOOPBACK_NAME.test(hostname);

const publicUrl = origin.superRefine((url, context) => {
  // Over plain http browsers refuse the session cookie's `__Host-` prefix, too.
  if (!isSafe(new URL(url))) context.addIssue({ code: "custom", message: "must be https, unless its host is localhost" });
  if (new URL(url).pathname !== "/")
    context.addIssue({ code: "custom", message: "must have no path: the console's paths begin at the root" });
});

/** Kept as it is written: providers compare issuers byte for byte. */
const issuerUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true }).superRefine((text, context) => {
  const url = new URL(text);
  const problem = (message: string): void => context.addIssue({ code: "custom", message });
  if (!isSafe(url)) problem("must be https, unless its host is localhost");
  if (/[?#]/.test(text) || url.username !== "" || url.password !== "") problem("must have no query, fragment or password");
  if (url.pathname.includes("/.well-known/")) problem("must be the issuer, not the address of its configuration");
});

/** Shown on a button. */
const displayName = z
  .string()
  .trim()
  .min(1, "must not be blank")
  .max(60, "must be at most 60 characters")
  .refine((text) => !/\p{Cc}/u.test(text), "must not hold control characters");

const PROVIDER_SETTINGS = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const;

const Settings = z
  .object({
    ...sharedSettings,
    /** Between hosts the gateway and the console authenticate each other with these, as services do. */
    ...rpcTlsSettings,
    HOST: z.string().default("127.0.0.1"),
    PORT: port(8081),
    /** The origin that people open. Cookies, the check of each call's origin, and links depend on it. */
    PUBLIC_URL: publicUrl.default("http://localhost:8080"),
    /** Default: 1, the gateway. */
    TRUST_PROXY: trustProxy.default(1),
    ACCOUNTS_ADDRESS: z.string(),
    PLANS_ADDRESS: z.string(),
    WEBHOOK_ADDRESS: z.string(),
    /** Shown to people: the same numbers as the gateway's. */
    ...rateLimitSettings,
    /** The OpenID provider that signs people in: its issuer, and this service's registration there. */
    OIDC_ISSUER: issuerUrl.optional(),
    OIDC_CLIENT_ID: z.string().optional(),
    /** The keys of cookies derive from it, too. */
    OIDC_CLIENT_SECRET: z.string().min(16, "must be at least 16 characters").optional(),
    /** Of the provider, for "Sign in with …". Default: the issuer's host. */
    OIDC_NAME: displayName.optional(),
    /** Whether to trust addresses of an issuer that omits `email_verified`. */
    OIDC_TRUST_EMAIL: z.enum(["true", "false"], "must be true or false").default("false"),
    /** Whether one-time links sign people in. Default: see hasSignInLinks. */
    SIGN_IN_LINKS: z.enum(["true", "false"], "must be true or false").optional(),
    /** A call that takes longer fails with `timeout`. */
    REQUEST_DEADLINE_MS: integer(10_000, 100, 60_000),
    /** Calls accepted in a minute, per process: of a session, of an address without a session, and attempts to sign in of an address. */
    CALLS_PER_SESSION: integer(600, 1, 100_000),
    CALLS_PER_ADDRESS: integer(1_200, 1, 100_000),
    SIGN_INS_PER_ADDRESS: integer(30, 1, 100_000),
  })
  .superRefine((settings, context) => {
    const given = PROVIDER_SETTINGS.filter((name) => settings[name] !== undefined);
    if (given.length === 0) return;
    for (const name of PROVIDER_SETTINGS) {
      if (!given.includes(name)) context.addIssue({ code: "custom", path: [name], message: `must be set with ${given.join(" and ")}` });
    }
  });

export type ConsoleConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): ConsoleConfig => parseEnv(Settings, env);
