import { integer, MAKE_A_KEY, origin, parseEnv, pemFile, redisTlsCa, redisUrl } from "@brand-records/config";
import { oidcSettings, requireTogether } from "@brand-records/identity";
import { serviceSettings } from "@brand-records/service-runtime";
import { z } from "zod";
import { parsePeppers } from "./domain/key.ts";

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

/** Nothing in it switches TLS off. */
const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: "must be an smtps:// or smtp:// URL", abort: true })
  .refine((text) => /^[^/]+\/\/[^/?#]+\/?$/.test(text), "must have no path, query or fragment")
  .refine(isDecodable, "must have %25 for a % of the user or the password")
  .meta({ values: "smtps:// or smtp:// URL", secret: true });

export const Settings = z
  .object({
    ...serviceSettings,
    REDIS_URL: redisUrl.optional().describe("The gateways' Redis. Without it gateways cache nothing and no epoch is published."),
    REDIS_TLS_CA: redisTlsCa,
    KEY_PEPPERS: z
      .string()
      .transform(parsePeppers)
      .meta({ values: "`version:base64` of 32 bytes or more, comma-separated", secret: true })
      .describe(
        "Hashes of API keys depend on them. New keys use the highest version that every process has; verification tries all versions. Every version in use must be present.",
      ),
    ...oidcSettings,
    KEYS_PER_BRAND_MAX: integer(200, 1, 10_000).describe("How many keys that are not revoked a brand has at most."),
    MEMBERS_PER_BRAND_MAX: integer(1_000, 1, 100_000).describe("How many members a brand has at most."),
    SESSION_IDLE_SECONDS: integer(7_200, 60, 86_400).describe("A session ends if it is not used for this long."),
    SESSION_SECONDS_MAX: integer(43_200, 60, 604_800).describe("A session ends after this time, used or not."),
    AUDIT_RETENTION_DAYS: integer(730, 1, 36_500).describe("How long entries of the audit log are kept."),
    USAGE_RETENTION_DAYS: integer(31, 1, 3_650).describe("How long usage is kept."),
    REQUESTS_RETENTION_HOURS: integer(24, 0, 24).describe("How long a brand's last 1,000 requests are kept. 0: gateways collect none."),
    SMTP_URL: smtpUrl
      .optional()
      .describe(
        "The server that takes [mail to owners](operations.md#mail-to-owners): `smtp://` with STARTTLS, `smtps://` with TLS from the start; without TLS on this machine alone. Without it no mail is sent.",
      ),
    SMTP_TLS_CA: pemFile.optional().describe("The authorities of its certificate, and no others. Without it those of Node."),
    MAIL_FROM: z
      .email("must be an e-mail address")
      .meta({ values: "e-mail address" })
      .optional()
      .describe("The sender's address. Set it with `SMTP_URL`."),
    PUBLIC_URL: origin.optional().describe("The origin at which people open the console, for links in mail. Needed with `SMTP_URL`."),
  })
  .superRefine(requireTogether(["OIDC_ISSUER", "OIDC_CLIENT_ID"]))
  .superRefine(requireTogether(["SMTP_URL", "MAIL_FROM"]))
  .refine(({ SMTP_URL, PUBLIC_URL }) => SMTP_URL === undefined || PUBLIC_URL !== undefined, {
    path: ["PUBLIC_URL"],
    error: "must be set with SMTP_URL",
  });

export type AccountsConfig = Readonly<z.output<typeof Settings>>;

/** @throws ConfigError */
export const parseConfig = (env: NodeJS.ProcessEnv): AccountsConfig => parseEnv(Settings, env, { KEY_PEPPERS: MAKE_A_KEY });
