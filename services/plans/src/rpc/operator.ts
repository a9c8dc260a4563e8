import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/plans/v1";
import type { Handlers } from "@brand-records/rpc";
import { idField } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import { deleteBrandData } from "../use-cases/delete-brand.ts";
import { findBrand } from "../use-cases/read-plans.ts";
import { peopleHandlers } from "./people.ts";

export function operatorHandlers({ db }: PlansDependencies): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: idField("pln") }, request);
      return { brand_id: await findBrand(db, id) };
    },
    async deleteBrandData(request) {
      const { brand_id } = parseRequest({ brand_id: idField("brd") }, request);
      return deleteBrandData(db, brand_id);
    },
    ...peopleHandlers({ db }),
  };
}
