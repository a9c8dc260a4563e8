import { parseRequest } from "@brand-records/errors";
import type { UsageServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { getUsage, recordUsage } from "../use-cases/usage.ts";
import { fields } from "./fields.ts";

const BATCH_COUNTS_MAX = 5_000;
const TOO_MANY = `must be at most ${BATCH_COUNTS_MAX}`;

export function usageHandlers({ db, usageKeepDays }: Pick<AccountsDependencies, "db" | "usageKeepDays">): Handlers<UsageServiceService> {
  return {
    async recordUsage(request) {
      return { recorded: await recordUsage(db, parseRequest(batchFields, request), usageKeepDays) };
    },
    async getUsage(request) {
      const { brand_id, from, to, bucket_minutes } = parseRequest(queryFields, request);
      const query = { brandId: brand_id, from, to, bucketMinutes: bucket_minutes, byKey: request.by_key, byClient: request.by_client };
      return getUsage(db, query);
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
    .max(BATCH_COUNTS_MAX, TOO_MANY),
  clients: z
    .array(
      z.object({
        brand_id: fields.brandId,
        key_id: fields.keyId,
        day: fields.day,
        name: fields.clientName,
        messages: fields.count,
      }),
    )
    .max(BATCH_COUNTS_MAX, TOO_MANY),
};

const queryFields = { brand_id: fields.brandId, from: fields.minute, to: fields.instant, bucket_minutes: fields.bucketMinutes };
