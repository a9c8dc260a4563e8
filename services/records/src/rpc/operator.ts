import type { Database } from "@brand-records/postgres";
import type { OperatorServiceService } from "@brand-records/proto/records/v1";
import type { Handlers } from "@brand-records/rpc";
import { check, idField } from "@brand-records/service";
import { deleteBrandData } from "../use-cases/delete-brand.ts";

export function operatorHandlers(db: Database): Handlers<OperatorServiceService> {
  return {
    async deleteBrandData(request) {
      const { brand_id } = check({ brand_id: idField("brd") }, request);
      return deleteBrandData(db, brand_id);
    },
  };
}
