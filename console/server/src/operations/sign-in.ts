import { AppError } from "@brand-records/errors";
import type { ConsoleConfig } from "../config.ts";
import type { Handler } from "./operation.ts";

export const signInOptions: Handler<"sign_in.options"> = {
  run: async (_services, { config }) => ({ links: config.SIGN_IN_LINKS === "true", provider: null }),
};

export const peekLink: Handler<"sign_in.peek"> = {
  async run({ signIn }, { call, config }, { token }) {
    requireLinks(config);
    return signIn.peekSignInLink({ token }, call);
  },
};

export const redeemLink: Handler<"sign_in.redeem"> = {
  async run({ signIn, sessions }, { call, config, sessionToken, startSession }, { token }) {
    requireLinks(config);
    const { session } = await signIn.redeemSignInLink({ token }, call);
    if (session == null) throw new Error("redeemSignInLink returned no session");
    startSession(session.token);
    // The browser forgets the earlier session, so no one could end it any more.
    if (sessionToken !== undefined) await sessions.endSession({ token: sessionToken }, call);
    return { email: session.email };
  },
};

function requireLinks({ SIGN_IN_LINKS }: ConsoleConfig): void {
  if (SIGN_IN_LINKS !== "true") throw new AppError("sign_in_link_unknown", "This service does not use sign-in links.");
}
