import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/plans/v1";
import type { Handlers } from "@brand-records/rpc";
import { emailField, idField, nextAfterId, pageSizeField, pseudonymField } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import { deleteBrandData, eraseFromPlans, exportPlansOf } from "../use-cases/erasure.ts";
import { findBrand } from "../use-cases/read-plans.ts";

type Dependencies = Pick<PlansDependencies, "db" | "audit">;

export function operatorHandlers(deps: Dependencies): Handlers<OperatorServiceService> {
  const { db } = deps;
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: idField("pln") }, request);
      return { brand_id: await findBrand(db, id) };
    },
    async deleteBrandData(request) {
      const { brand_id } = parseRequest({ brand_id: idField("brd") }, request);
      return deleteBrandData(db, brand_id);
    },
    ...peopleHandlers(deps),
  };
}

/** What is kept about a person: the operator's part. */
function peopleHandlers(deps: Dependencies): Pick<Handlers<OperatorServiceService>, "exportPerson" | "erasePerson"> {
  return {
    async exportPerson(request) {
      const { email, page_size, after_id } = parseRequest(exportFields, request);
      const plans = await exportPlansOf(deps.db, email, after_id ?? "", page_size);
      return { plans, next_after_id: nextAfterId(plans, page_size) };
    },
    async erasePerson(request) {
      const { email, pseudonym } = parseRequest(eraseFields, request);
      return { brand_ids: await eraseFromPlans(deps, email, pseudonym) };
    },
  };
}

const exportFields = {
  email: emailField(),
  page_size: pageSizeField({ default: 100, max: 1_000 }),
  after_id: idField("pln").nullish(),
};

const eraseFields = { email: emailField(), pseudonym: pseudonymField };
