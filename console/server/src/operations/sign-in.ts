import { hasSignInLinks } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import type { ConsoleConfig } from "../config.ts";
import { replaceSession } from "../sessions.ts";
import type { VisitorHandler } from "./operation.ts";

/** Time for which a link that an owner makes works. */
export const LINK_HOURS = 24;

export const signInOptions: VisitorHandler<"sign_in.options"> = {
  run: async (_services, { config, provider }) => ({
    links: hasSignInLinks(config),
    link_hours: LINK_HOURS,
    provider: provider?.name ?? null,
  }),
};

export const peekLink: VisitorHandler<"sign_in.peek"> = {
  usesLink: true,
  async run({ signIn }, { call, client, config }, { token }) {
    requireLinks(config);
    const { email, expires_at, brand_name } = await signIn.peekSignInLink({ token, client: client() }, call);
    return { email, expires_at, brand_name: brand_name ?? null };
  },
};

export const redeemLink: VisitorHandler<"sign_in.redeem"> = {
  usesLink: true,
  async run(services, visitor, { token }) {
    requireLinks(visitor.config);
    const { session } = await services.signIn.redeemSignInLink({ token, client: visitor.client() }, visitor.call);
    if (session == null) throw new Error("redeemSignInLink returned no session");
    await replaceSession(services, visitor, session.token);
    return { email: session.email };
  },
};

/** @throws AppError `sign_in_link_unknown` where links sign no one in */
export function requireLinks(config: ConsoleConfig): void {
  if (!hasSignInLinks(config)) throw new AppError("sign_in_link_unknown", "This service does not use sign-in links.");
}
