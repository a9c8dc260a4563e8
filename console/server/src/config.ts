import { integer, origin, parseEnv, port, rateLimitSettings, sharedSettings, trustProxy } from "@brand-records/config";
import { rpcTlsSettings } from "@brand-records/rpc";
import { z } from "zod";

/** Browsers treat these as secure without TLS. */
const LOOPBACK_NAME = /^(localhost|127\.0\.0\.1|\[::1\])$/;

const publicUrl = origin.superRefine((url, context) => {
  const { protocol, hostname, pathname } = new URL(url);
  // Over plain http anyone on the way reads the session's cookie, and browsers refuse the cookie's `__Host-` prefix.
  if (protocol !== "https:" && !LOOPBACK_NAME.test(hostname)) {
    context.addIssue({ code: "custom", message: "must be https, unless its host is localhost" });
  }
  if (pathname !== "/") context.addIssue({ code: "custom", message: "must have no path: the console's paths begin at the root" });
});

const Settings = z.object({
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
  WEBHOOK_ADDRESS: z.string(),
  /** Shown to people: the same numbers as the gateway's. */
  ...rateLimitSettings,
  /** Whether one-time links sign people in. */
  SIGN_IN_LINKS: z.enum(["true", "false"], "must be true or false").default("true"),
  /** A call that takes longer fails with `timeout`. */
  REQUEST_DEADLINE_MS: integer(10_000, 100, 60_000),
  /** Calls accepted in a minute, per process: of a session, of an address, and attempts to sign in of an address. */
  CALLS_PER_SESSION: integer(600, 1, 100_000),
  CALLS_PER_ADDRESS: integer(1_200, 1, 100_000),
  SIGN_INS_PER_ADDRESS: integer(30, 1, 100_000),
});

export type ConsoleConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): ConsoleConfig => parseEnv(Settings, env);
