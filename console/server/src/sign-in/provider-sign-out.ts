import { hash } from "node:crypto";
import { AppError } from "@brand-records/errors";
import type { CallContext } from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";
import type { Request, Response } from "express";
import type { ConsoleConfig } from "../config.ts";
import { cookie } from "../http/cookies.ts";
import type { Services } from "../services.ts";
import { diagnose } from "./failures.ts";
import type { SignInProvider } from "./provider.ts";
import { sealedValues } from "./sealed-values.ts";

/** Longer than any session. */
const TTL_SECONDS = 24 * 60 * 60;
/** Browsers drop larger cookies. */
const COOKIE_BYTES_MAX = 3_800;

/** Ends the provider's session with ours: else the next person at this browser signs in without a password. */
export interface ProviderSignOut {
  /** Keeps the ID token in the browser, for `locationFor`. */
  keep(response: Response, sessionToken: string, idToken: string): Promise<void>;
  /** Returns where the browser goes to sign out at the provider; null for a session that began with a link, or has ended. */
  locationFor(request: Request, response: Response, sessionToken: string, call: CallContext): Promise<string | null>;
}

interface ProviderSignOutDependencies {
  readonly config: ConsoleConfig;
  readonly services: Services;
  readonly provider: SignInProvider;
  readonly log: Logger;
}

export function openProviderSignOut({ config, services, provider, log }: ProviderSignOutDependencies): ProviderSignOut {
  const sealed = sealedValues<{ idToken: string; session: string }>(config.OIDC_CLIENT_SECRET ?? "", "ID token");
  // No other requests need its 4 KB. One path does not cover the other: browsers compare whole segments.
  const idTokenCookies = ["session.sign_out", "session.sign_out_everywhere"].map((name) =>
    cookie(config.PUBLIC_URL, "id-token", `/console/api/${name}`),
  );
  const clear = (response: Response): void => idTokenCookies.forEach((each) => each.clear(response));
  const nameOf = (sessionToken: string): string => hash("sha256", sessionToken, "base64url");

  /** Providers need no hint, but ask without one whether the person means it. */
  const hintFor = async (request: Request, sessionToken: string): Promise<string | undefined> => {
    // The request carries the one of its path, under the same name.
    const kept = idTokenCookies[0]?.read(request);
    const opened = kept === undefined ? undefined : await sealed.open(kept);
    return opened?.value.session === nameOf(sessionToken) ? opened.value.idToken : undefined;
  };

  return {
    async keep(response, sessionToken, idToken) {
      const value = await sealed.seal({ idToken, session: nameOf(sessionToken) }, TTL_SECONDS);
      if (value.length > COOKIE_BYTES_MAX) clear(response);
      else for (const each of idTokenCookies) each.set(response, value);
    },
    async locationFor(request, response, sessionToken, call) {
      clear(response);
      if (!(await isOfProvider(services, sessionToken, call))) return null;
      try {
        return (await provider.signOutUrl(await hintFor(request, sessionToken)))?.href ?? null;
      } catch (error) {
        // Ours ends all the same.
        log.warn({ ...diagnose(error).fields, request_id: call.requestId }, "could not sign out at the provider");
        return null;
      }
    },
  };
}

async function isOfProvider({ sessions }: Services, token: string, call: CallContext): Promise<boolean> {
  try {
    return (await sessions.getSession({ token }, call)).session?.issuer != null;
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid_session") return false;
    throw error;
  }
}
