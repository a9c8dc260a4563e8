import { parseRequest } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { OperatorServiceService } from "@brand-records/proto/records/v1";
import type { Handlers } from "@brand-records/rpc";
import { idField } from "@brand-records/service-runtime";
import { z } from "zod";
import { deleteBrandData } from "../use-cases/delete-brand.ts";

export function operatorHandlers(db: Database): Handlers<OperatorServiceService> {
  return {
    async deleteBrandData(request) {
      const { brand_id, outbox_after } = parseRequest({ brand_id: idField("brd"), outbox_after: z.int().min(0) }, request);
      return deleteBrandData(db, brand_id, outbox_after);
    },
  };
}
