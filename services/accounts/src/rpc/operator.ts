import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import type { AccountsDependencies } from "../dependencies.ts";
import { QUIET_SECONDS } from "../domain/brand.ts";
import { beginBrandDeletion, finishBrandDeletion } from "../use-cases/delete-brand.ts";
import { findBrandOfKey } from "../use-cases/keys.ts";
import { fields } from "./fields.ts";
import { peopleHandlers } from "./people.ts";

export function operatorHandlers(deps: AccountsDependencies): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: fields.keyId }, request);
      return { brand_id: await findBrandOfKey(deps.db, id) };
    },
    async beginBrandDeletion(request, { requestId }) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      const deletion = await beginBrandDeletion(deps, brand_id, { resume: request.resume, requestId });
      return { ...deletion, quiet_ms: QUIET_SECONDS * 1_000 };
    },
    async finishBrandDeletion(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return finishBrandDeletion(deps, brand_id);
    },
    ...peopleHandlers(deps),
  };
}
