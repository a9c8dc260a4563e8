import { isHttpsOrLocal, trueOrFalse } from "@brand-records/config";
import { z } from "zod";

/** Kept as it is written: providers compare issuers byte for byte. */
const issuerUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true }).superRefine((text, context) => {
  const url = new URL(text);
  const problem = (message: string): void => context.addIssue({ code: "custom", message });
  if (!isHttpsOrLocal(url)) problem("must be https, unless its host is localhost");
  if (/[?#]/.test(text) || url.username !== "" || url.password !== "") problem("must have no query, fragment or password");
  if (url.pathname.includes("/.well-known/")) problem("must be the issuer, not the address of its configuration");
});

/** The provider, as the console leads people to it and accounts verifies its ID tokens: the same in both. */
export const oidcSettings = {
  OIDC_ISSUER: issuerUrl
    .meta({ values: "https URL, or of localhost" })
    .optional()
    .describe(
      "The issuer of the [OpenID provider](sign-in.md#settings) that signs people in. Set it with `OIDC_CLIENT_ID`, the same for the console and accounts.",
    ),
  OIDC_CLIENT_ID: z.string().optional().describe("The console's registration there."),
  OIDC_TRUST_EMAIL: trueOrFalse.default("false").describe("Whether to trust addresses of an issuer that omits `email_verified`."),
} as const;

/** Returns a check for `superRefine`: all of these settings, or none. */
export const requireTogether =
  <Name extends string>(names: readonly Name[]) =>
  (settings: { readonly [Each in Name]?: unknown }, context: z.RefinementCtx): void => {
    const given = names.filter((name) => settings[name] !== undefined);
    if (given.length === 0) return;
    for (const name of names) {
      if (!given.includes(name)) context.addIssue({ code: "custom", path: [name], message: `must be set with ${given.join(" and ")}` });
    }
  };
