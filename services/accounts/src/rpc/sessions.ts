import { parseRequest } from "@brand-records/errors";
import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import type { AccountsDependencies } from "../dependencies.ts";
import { endSession, endSessionsOf, getSession } from "../use-cases/sessions.ts";
import { fields } from "./fields.ts";

export function sessionsHandlers(deps: Pick<AccountsDependencies, "db" | "sessionLimits">): Handlers<SessionsServiceService> {
  return {
    async getSession({ token }) {
      const { session, memberships } = await getSession(deps, token);
      return { session, memberships: [...memberships] };
    },
    async endSession({ token }) {
      await endSession(deps.db, token);
      return {};
    },
    async endSessionsOf(request) {
      const { email, brand_id } = parseRequest({ email: fields.email, brand_id: fields.brandId.nullish() }, request);
      return { ended: await endSessionsOf(deps.db, email, brand_id ?? null) };
    },
  };
}
