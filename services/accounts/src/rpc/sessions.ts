import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import type { AccountsDependencies } from "../dependencies.ts";
import { deleteSessionsOf, deleteSessionsOfBrand } from "../storage/sessions.ts";
import { endSession, getSession } from "../use-cases/sessions.ts";
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
      const { email, brand_id } = check({ email: fields.email, brand_id: fields.brandId.nullish() }, request);
      return { ended: await (brand_id == null ? deleteSessionsOf(deps.db, email) : deleteSessionsOfBrand(deps.db, email, brand_id)) };
    },
  };
}
