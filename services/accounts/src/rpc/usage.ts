import { parseRequest } from "@brand-records/errors";
import type { UsageServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { getUsage, recordUsage } from "../use-cases/usage.ts";
import { fields } from "./fields.ts";

const BATCH_MINUTES_MAX = 5_000;

export function usageHandlers({ db, usageKeepDays }: Pick<AccountsDependencies, "db" | "usageKeepDays">): Handlers<UsageServiceService> {
  return {
    async recordUsage(request) {
      const { batch_id, minutes } = parseRequest(batchFields, request);
      return { recorded: await recordUsage(db, batch_id, minutes, usageKeepDays) };
    },
    async getUsage(request) {
      const { brand_id, from, to, bucket_minutes } = parseRequest(queryFields, request);
      const query = { brandId: brand_id, from, to, bucketMinutes: bucket_minutes, byKey: request.by_key };
      return { buckets: await getUsage(db, query) };
    },
  };
}

const batchFields = {
  batch_id: fields.batchId,
  minutes: z
    .array(
      z.object({
        brand_id: fields.brandId,
        key_id: fields.keyId,
        minute: fields.minute,
        accepted: fields.count,
        refused: fields.count,
      }),
    )
    .max(BATCH_MINUTES_MAX, `must be at most ${BATCH_MINUTES_MAX}`),
};

const queryFields = { brand_id: fields.brandId, from: fields.minute, to: fields.instant, bucket_minutes: fields.bucketMinutes };
