import {
  host,
  integer,
  isHttpsOrLocal,
  origin,
  parseEnv,
  port,
  rateLimitSettings,
  rpcTarget,
  sharedSettings,
  tracingSettings,
  trueOrFalse,
  trustProxy,
} from "@brand-records/config";
import { oidcSettings, requireTogether } from "@brand-records/identity";
import { rpcTlsSettings } from "@brand-records/rpc";
import { z } from "zod";

const publicUrl = origin.superRefine((url, context) => {
  // Over plain http browsers refuse the session cookie's `__Host-` prefix, too.
  if (!isHttpsOrLocal(new URL(url))) context.addIssue({ code: "custom", message: "must be https, unless its host is localhost" });
  if (new URL(url).pathname !== "/")
    context.addIssue({ code: "custom", message: "must have no path: the console's paths begin at the root" });
});

/** A text that pages show. */
const shownText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be blank")
    .max(max, `must be at most ${max} characters`)
    .refine((text) => !/\p{Cc}/u.test(text), "must not hold control characters");

export const Settings = z
  .object({
    ...sharedSettings,
    ...tracingSettings,
    /** Between hosts the gateway and the console authenticate each other with these, as services do. */
    ...rpcTlsSettings,
    HOST: host("127.0.0.1").describe("Address for HTTP. Other hosts reach it only with `RPC_TLS_CERT`, `RPC_TLS_KEY` and `RPC_TLS_CA`."),
    PORT: port(8081).describe("Port for HTTP."),
    PUBLIC_URL: publicUrl
      .meta({ values: "https origin, or of localhost" })
      .default("http://localhost:8080")
      .describe("The origin that people open. Cookies, the check of each call's origin, and links depend on it."),
    TRUST_PROXY: trustProxy.default(1).describe("Proxies before it, the gateway among them."),
    ACCOUNTS_ADDRESS: rpcTarget.describe("accounts, which knows sessions, members and keys."),
    PLANS_ADDRESS: rpcTarget.describe("plans, whose workspaces it shows."),
    WEBHOOK_ADDRESS: rpcTarget.describe("webhook, whose receivers and deliveries it shows."),
    // Shown to people.
    ...rateLimitSettings,
    ...oidcSettings,
    OIDC_CLIENT_SECRET: z
      .string()
      .min(16, "must be at least 16 characters")
      .meta({ values: "16 characters or more", secret: true })
      .optional()
      .describe("The secret of the registration `OIDC_CLIENT_ID`, set with it. The keys of cookies derive from it, too."),
    OIDC_NAME: shownText(60)
      .meta({ values: "1 to 60 characters", unset: "the issuer's host" })
      .optional()
      .describe("The provider's name on the button “Sign in with …”."),
    SIGN_IN_LINKS: trueOrFalse.meta({ unset: "`true` without a provider" }).optional().describe("Whether one-time links sign people in."),
    // No default: until a package is published, anyone can register its name, and would get the secrets of those who run it.
    COMMAND_LINE: shownText(100)
      .meta({ values: "1 to 100 characters" })
      .optional()
      .describe("What people type for `brand-records`, such as `npx @your-scope/cli`. Without it, the console mentions no command line."),
    REQUEST_DEADLINE_MS: integer(10_000, 100, 60_000).describe(
      "A call that takes longer fails with `timeout`; its body has as long to arrive.",
    ),
    CALLS_PER_SESSION: integer(600, 1, 100_000).describe("Calls of a session accepted in a minute, per process."),
    CALLS_PER_ADDRESS: integer(1_200, 1, 100_000).describe(
      "Of an address in a minute, per process: calls to sign in or out; wrong tokens, after which valid sessions still pass.",
    ),
    SIGN_INS_PER_ADDRESS: integer(30, 1, 100_000).describe(
      "Of an address in a minute, per process, each: uses of links; sign-ins begun here, begun by other sites, finished.",
    ),
  })
  .superRefine(requireTogether(["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"]));

export type ConsoleConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): ConsoleConfig => parseEnv(Settings, env);
