import { AppError } from "@brand-records/errors";
import type { CallContext } from "@brand-records/rpc";
import { hasSignInLinks } from "@brand-records/config";
import type { Services } from "../services.ts";
import type { Handlers } from "./operation.ts";
import type { ConsoleConfig } from "../config.ts";
import { replaceSession } from "../sessions.ts";

export const SIGN_IN = {
  async "session.me"(_services, { person: { via: _via, ...person }, config }) {
    const { RATE_LIMIT_PLUS: plus, RATE_LIMIT_PRO: pro, RATE_LIMIT_ENTERPRISE: enterprise, ENVIRONMENT: environment } = config;
    return { ...person, environment, rate_limits: { plus, pro, enterprise }, command_line: config.COMMAND_LINE ?? null };
  },
  async "session.sign_out"({ sessions }, { call, client, sessionToken, endSession, providerSignOutLocation }) {
    let location: string | null = null;
    if (sessionToken !== undefined) {
      location = await providerSignOutLocation(sessionToken);
      await sessions.endSession({ token: sessionToken, client: client() }, call);
    }
    endSession();
    return { location };
  },
  async "session.sign_out_everywhere"({ sessions }, { call, client, person, sessionToken, endSession, providerSignOutLocation }) {
    const location = sessionToken === undefined ? null : await providerSignOutLocation(sessionToken);
    // A link of one brand's owner ends nothing of the person's other brands.
    await sessions
      .endSessionsOf({ email: person.email, brand_id: person.limited_to, client: client() }, call)
      .catch(async (error: unknown) => {
        if (!isInvalid(error) || (await lives(sessions, sessionToken, call))) throw error;
      });
    endSession();
    return { location };
  },
  async "session.locate"({ keyBrands, planBrands, webhookBrands }, { call, person }, { id }) {
    const brands = id.startsWith("key_") ? keyBrands : id.startsWith("pln_") ? planBrands : webhookBrands;
    const found = await brands.findBrand({ id }, call).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === "not_found") return undefined;
      throw error;
    });
    // Another brand's record and an unknown one look alike.
    if (person.memberships.some(({ brand_id }) => brand_id === found?.brand_id)) return { brand_id: found?.brand_id ?? "" };
    throw new AppError("not_found", "None of your brands has this record.");
  },
  "sign_in.options": async (_services, { config, provider }) => ({
    links: hasSignInLinks(config),
    link_hours: LINK_HOURS,
    provider: provider?.name ?? null,
  }),
  async "sign_in.peek"({ signIn }, { call, client, config }, { token }) {
    requireLinks(config);
    return signIn.peekSignInLink({ token, client: client() }, call);
  },
  async "sign_in.redeem"(services, visitor, { token }) {
    requireLinks(visitor.config);
    const { session } = await services.signIn.redeemSignInLink({ token, client: visitor.client() }, visitor.call);
    if (session == null) throw new Error("redeemSignInLink returned no session");
    await replaceSession(services, visitor, session.token);
    return { email: session.email };
  },
} satisfies Partial<Handlers>;

const isInvalid = (error: unknown): boolean => error instanceof AppError && error.kind === "invalid_session";

/**
 * Whether a session that lived when the call arrived still does. If not, a first try has ended it whose answer was lost, so that its repetition
 * was refused.
 */
async function lives(sessions: Services["sessions"], token: string | undefined, call: CallContext): Promise<boolean> {
  if (token === undefined) return false;
  return sessions.getSession({ token }, call).then(
    () => true,
    (error: unknown) => {
      if (isInvalid(error)) return false;
      throw error;
    },
  );
}

/** Time for which a link that an owner makes works. */
export const LINK_HOURS = 24;

/** @throws AppError `sign_in_link_unknown` where links sign no one in */
export function requireLinks(config: ConsoleConfig): void {
  if (!hasSignInLinks(config)) throw new AppError("sign_in_link_unknown", "This service does not use sign-in links.");
}
