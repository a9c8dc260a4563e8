import { parseRequest } from "@brand-records/errors";
import { GRANT_AUDIENCES } from "@brand-records/identity";
import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { endSession, endSessionsOf, getSession } from "../use-cases/sessions.ts";
import { grantsOf, prove } from "../use-cases/grants.ts";
import { clientOf, fields } from "./fields.ts";

type SessionsDependencies = Pick<AccountsDependencies, "db" | "sessionLimits" | "grantKeys" | "peppers">;

export function sessionsHandlers(deps: SessionsDependencies): Handlers<SessionsServiceService> {
  return {
    async getSession({ token, with_grants, brand_id }) {
      const { session, memberships } = await getSession(deps, token);
      const brand = memberships.find((membership) => membership.brand_id === brand_id);
      const grants = with_grants === true ? await grantsOf(deps, session, token, brand) : {};
      return { session, memberships: [...memberships], grants };
    },
    async checkGrant(request) {
      const { grant, audience, brand_id } = parseRequest(grantFields, request);
      const need = { audience, brandId: brand_id ?? undefined, bySignature: false };
      const { email, via, limitedTo, brand } = await prove(deps, grant, need);
      return { email, role: brand?.role ?? null, via, limited_to: limitedTo };
    },
    async endSession(request, { requestId }) {
      await endSession(deps.db, request.token, { requestId, client: clientOf(request) });
      return {};
    },
    async endSessionsOf(request, { person, requestId }) {
      const { email, brand_id } = parseRequest({ email: fields.email, brand_id: fields.brandId.nullish() }, request);
      // A link of one brand's owner ends nothing of the person's other brands.
      const brandId = person === undefined ? (brand_id ?? null) : person.limitedTo;
      // Without a grant the operator's tools call.
      const ended = { email, brandId, actor: person?.email ?? null, via: person?.via ?? null };
      return { ended: await endSessionsOf(deps.db, ended, { requestId, client: clientOf(request) }) };
    },
  };
}

const grantFields = { grant: z.string(), audience: z.enum(GRANT_AUDIENCES), brand_id: fields.brandId.nullish() };
