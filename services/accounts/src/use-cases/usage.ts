import type { Database, Sql } from "@brand-records/postgres";
import type {
  GetUsageRequest,
  GetUsageResponse,
  ListFailedRequestsRequest,
  ListFailedRequestsResponse,
  RecordUsageRequest,
} from "@brand-records/proto/accounts/v1";
import { FAILURES_KEEP_DAYS, FAILURES_PER_BRAND_MAX, requireFailuresRange } from "../domain/failed-requests.ts";
import { LIST_PAGE_MAX } from "../domain/page-token.ts";
import { CLIENT_COUNTS_MAX, COUNTS_MAX, MINUTES_AHEAD_MAX, requireRange, tooManyCounts } from "../domain/usage.ts";
import { addFailedRequests, failedBuckets, failedGroups, failuresCountedSince } from "../storage/failed-requests.ts";
import { addClientUsage, addUsage, clientCounts, insertUsageBatch, usageBuckets } from "../storage/usage.ts";
import { requireBrand } from "./brands.ts";
import { keysNamed } from "./keys.ts";

/** Adds a gateway's counts, once for each batch. Returns false if the batch was recorded before. */
export function recordUsage(
  db: Database,
  { batch_id, minutes, clients, failures }: RecordUsageRequest,
  keepDays: number,
): Promise<boolean> {
  const kept = { keepDays, minutesAhead: MINUTES_AHEAD_MAX };
  return db.transaction(async (sql) => {
    if (!(await insertUsageBatch(sql, batch_id))) return false;
    await addUsage(sql, minutes, kept);
    await addClientUsage(sql, clients, kept);
    await addFailedRequests(sql, failures, { ...kept, keepDays: FAILURES_KEEP_DAYS });
    return true;
  });
}

const keyOf = ({ key_id }: { readonly key_id?: string | null | undefined }) => key_id;

/** @throws AppError `not_found` if there is no such brand, `invalid_request` if the query asks for too much */
export async function getUsage(sql: Sql, query: GetUsageRequest): Promise<GetUsageResponse> {
  await requireBrand(sql, query.brand_id);
  requireRange(query);
  const buckets = await usageBuckets(sql, query, COUNTS_MAX + 1);
  if (buckets.length > COUNTS_MAX) throw tooManyCounts();
  const clients = query.by_client ? await clientCounts(sql, query, CLIENT_COUNTS_MAX) : [];
  const keys = query.by_key ? await keysNamed(sql, query.brand_id, [...buckets, ...clients].map(keyOf), LIST_PAGE_MAX) : [];
  return { buckets, clients, keys };
}

/** @throws AppError `not_found` if there is no such brand, `invalid_request` if the query asks for too much */
export async function listFailedRequests(sql: Sql, query: ListFailedRequestsRequest): Promise<ListFailedRequestsResponse> {
  await requireBrand(sql, query.brand_id);
  requireFailuresRange(query);
  const failed = await failedGroups(sql, query);
  return {
    ...failed,
    keys: await keysNamed(sql, query.brand_id, failed.groups.map(keyOf), LIST_PAGE_MAX),
    buckets: await failedBuckets(sql, query),
    counted_since: await failuresCountedSince(sql, query.brand_id, FAILURES_PER_BRAND_MAX),
  };
}
