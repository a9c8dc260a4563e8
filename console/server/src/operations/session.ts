import { AppError } from "@brand-records/errors";
import type { SessionHandler, VisitorHandler } from "./operation.ts";

export const me: SessionHandler<"session.me"> = {
  async run(_services, { person, config }) {
    const { RATE_LIMIT_PLUS: plus, RATE_LIMIT_PRO: pro, RATE_LIMIT_ENTERPRISE: enterprise, ENVIRONMENT: environment } = config;
    return { ...person, environment, rate_limits: { plus, pro, enterprise } };
  },
};

export const signOut: VisitorHandler<"session.sign_out"> = {
  async run({ sessions }, { call, client, sessionToken, endSession, providerSignOutLocation }) {
    let location: string | null = null;
    if (sessionToken !== undefined) {
      location = await providerSignOutLocation(sessionToken);
      await sessions.endSession({ token: sessionToken, client: client() }, call);
    }
    endSession();
    return { location };
  },
};

export const signOutEverywhere: SessionHandler<"session.sign_out_everywhere"> = {
  async run({ sessions }, { call, client, person, sessionToken, endSession, providerSignOutLocation }) {
    const location = sessionToken === undefined ? null : await providerSignOutLocation(sessionToken);
    // A link of one brand's owner ends nothing of the person's other brands.
    const ended = sessions.endSessionsOf({ email: person.email, brand_id: person.limited_to, client: client() }, call);
    await ended.catch(unlessEnded);
    endSession();
    return { location };
  },
};

/** The session lived when the call arrived. A first try has ended it whose answer was lost, so that its repetition is refused. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof AppError) || error.kind !== "invalid_session") throw error;
}

export const locate: SessionHandler<"session.locate"> = {
  async run({ keyBrands, planBrands, webhookBrands }, { call, person }, { id }) {
    const brands = id.startsWith("key_") ? keyBrands : id.startsWith("pln_") ? planBrands : webhookBrands;
    const found = await brands.findBrand({ id }, call).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === "not_found") return undefined;
      throw error;
    });
    // Another brand's record and an unknown one look alike.
    if (person.memberships.some(({ brand_id }) => brand_id === found?.brand_id)) return { brand_id: found?.brand_id ?? "" };
    throw new AppError("not_found", "None of your brands has this record.");
  },
};
