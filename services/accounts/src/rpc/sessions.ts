import { parseRequest } from "@brand-records/errors";
import { GRANT_AUDIENCES } from "@brand-records/identity";
import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { endSession, endSessionsOf, getSession } from "../use-cases/sessions.ts";
import { grantsOf, prove } from "../use-cases/grants.ts";
import { clientOf, entryOf, fields } from "./fields.ts";

type SessionsDependencies = Pick<AccountsDependencies, "db" | "sessionLimits" | "grantKeys" | "peppers">;

export function sessionsHandlers(deps: SessionsDependencies): Handlers<SessionsServiceService> {
  return {
    async getSession({ token, with_grants, ...request }, { requestId }) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId.nullish().catch(null) }, request);
      const client = clientOf(request);
      const opening = brand_id == null ? undefined : { brandId: brand_id, requestId, client };
      const { session, memberships } = await getSession(deps, token, opening);
      const brand = memberships.find((membership) => membership.brand_id === brand_id);
      const grants = with_grants === true ? await grantsOf(deps, session, token, brand, client) : {};
      return { session, memberships: [...memberships], grants };
    },
    async checkGrant(request) {
      const { grant, audience, brand_id } = parseRequest(grantFields, request);
      const need = { audience, brandId: brand_id ?? undefined };
      const { email, via, limitedTo, brand, client } = await prove(deps, grant, need);
      return { email, role: brand?.role ?? null, via, limited_to: limitedTo, client };
    },
    async endSession(request, call) {
      await endSession(deps.db, request.token, entryOf(call, request));
      return {};
    },
    async endSessionsOf(request, call) {
      const { email, brand_id } = parseRequest({ email: fields.email, brand_id: fields.brandId.nullish() }, request);
      // A link of one brand's owner ends nothing of the person's other brands.
      const brandId = call.person === undefined ? (brand_id ?? null) : call.person.limitedTo;
      return { ended: await endSessionsOf(deps.db, { email, brandId }, entryOf(call, request)) };
    },
  };
}

const grantFields = { grant: z.string(), audience: z.enum(GRANT_AUDIENCES), brand_id: fields.brandId.nullish() };
