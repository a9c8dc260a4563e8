import { parseRequest } from "@brand-records/errors";
import type { UsageServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { REQUEST_IDS_MAX } from "../domain/failed-requests.ts";
import { REQUESTS_PER_BRAND_MAX } from "../domain/recent-requests.ts";
import { getUsage, listFailedRequests, listRequests, recordUsage } from "../use-cases/usage.ts";
import { fields } from "./fields.ts";

const BATCH_COUNTS_MAX = 5_000;
const BATCH_FAILURES_MAX = 2_000;

type UsageDependencies = Pick<AccountsDependencies, "db" | "clock" | "usageKeepDays" | "requestsKeepHours">;

export function usageHandlers(deps: UsageDependencies): Handlers<UsageServiceService> {
  const { db, clock, requestsKeepHours } = deps;
  return {
    async recordUsage(request) {
      const recorded = await recordUsage(deps, parseRequest(batchFields, request));
      return { recorded, keeps_requests: requestsKeepHours > 0 };
    },
    getTime: async () => ({ now_ms: clock.now() }),
    async listFailedRequests(request) {
      return listFailedRequests(db, parseRequest(failuresFields, request));
    },
    async listRequests(request) {
      return listRequests(db, parseRequest(requestsFields, request), requestsKeepHours, clock.now());
    },
    async getUsage(request) {
      return getUsage(db, { ...request, ...parseRequest(queryFields, request) });
    },
  };
}

const counts = <Shape extends z.ZodRawShape>(max: number, shape: Shape) =>
  z.array(z.object({ brand_id: fields.brandId, key_id: fields.keyId, ...shape })).max(max, `must be at most ${max}`);

const batchFields = {
  batch_id: fields.batchId,
  minutes: counts(BATCH_COUNTS_MAX, { minute: fields.minute, accepted: fields.count, refused: fields.count }),
  clients: counts(BATCH_COUNTS_MAX, { day: fields.day, name: fields.clientName, messages: fields.count, connecting: fields.count }),
  failures: counts(BATCH_FAILURES_MAX, {
    minute: fields.minute,
    route: fields.route,
    code: fields.errorKind,
    field: fields.failedField,
    requests: fields.count,
    request_ids: z.array(fields.requestId).max(REQUEST_IDS_MAX, `must be at most ${REQUEST_IDS_MAX}`),
  }),
  requests: z
    .array(
      z.object({
        brand_id: fields.brandId,
        count: z.int().min(1, "must be at least 1").max(REQUESTS_PER_BRAND_MAX, `must be at most ${REQUESTS_PER_BRAND_MAX}`),
        requests: z.instanceof(Buffer),
      }),
    )
    .max(BATCH_COUNTS_MAX, `must be at most ${BATCH_COUNTS_MAX}`),
};

const failuresFields = {
  brand_id: fields.brandId,
  from: fields.minute,
  to: fields.instant,
  bucket_minutes: fields.failureBucketMinutes,
  key_id: fields.keyId.nullish(),
  route: fields.route.nullish(),
  code: fields.errorKind.nullish(),
  field: fields.failedField.nullish(),
};

const requestsFields = {
  brand_id: fields.brandId,
  key_id: fields.keyId.nullish(),
  route: fields.route.nullish(),
  status: fields.servedStatus.nullish(),
  request_id: fields.requestId.nullish(),
  page_size: fields.requestsPageSize,
  page_token: z.string().nullish(),
};

const queryFields = { brand_id: fields.brandId, from: fields.minute, to: fields.instant, bucket_minutes: fields.bucketMinutes };
