import type { Database, Sql } from "@brand-records/postgres";
import {
  type FailedMinute,
  type FailedRequests,
  type FailedRequestsQuery,
  FAILURES_KEEP_DAYS,
  FAILURES_PER_BRAND_MAX,
  requireFailuresRange,
} from "../domain/failed-requests.ts";
import {
  CLIENT_COUNTS_MAX,
  type ClientUsage,
  COUNTS_MAX,
  MINUTES_AHEAD_MAX,
  type MinuteUsage,
  requireRange,
  tooManyCounts,
  type Usage,
  type UsageQuery,
} from "../domain/usage.ts";
import { addFailedRequests, failedBuckets, failedGroups, failuresCountedSince } from "../storage/failed-requests.ts";
import { addClientUsage, addUsage, clientCounts, insertUsageBatch, usageBuckets } from "../storage/usage.ts";
import { requireBrand } from "./brands.ts";

/** What a gateway has counted since its last batch. */
export interface UsageBatch {
  readonly batch_id: string;
  readonly minutes: readonly MinuteUsage[];
  readonly clients: readonly ClientUsage[];
  readonly failures: readonly FailedMinute[];
}

/** Adds a gateway's counts, once for each batch. Returns false if the batch was recorded before. */
export function recordUsage(db: Database, { batch_id, minutes, clients, failures }: UsageBatch, keepDays: number): Promise<boolean> {
  const kept = { keepDays, minutesAhead: MINUTES_AHEAD_MAX };
  return db.transaction(async (sql) => {
    if (!(await insertUsageBatch(sql, batch_id))) return false;
    await addUsage(sql, minutes, kept);
    await addClientUsage(sql, clients, kept);
    await addFailedRequests(sql, failures, { ...kept, keepDays: FAILURES_KEEP_DAYS });
    return true;
  });
}

/** @throws AppError `not_found` if there is no such brand, `invalid_request` if the query asks for too much */
export async function getUsage(sql: Sql, query: UsageQuery): Promise<Usage> {
  await requireBrand(sql, query.brandId);
  requireRange(query);
  const buckets = await usageBuckets(sql, query, COUNTS_MAX + 1);
  if (buckets.length > COUNTS_MAX) throw tooManyCounts();
  return { buckets, clients: query.byClient ? await clientCounts(sql, query, CLIENT_COUNTS_MAX) : [] };
}

/** @throws AppError `not_found` if there is no such brand, `invalid_request` if the query asks for too much */
export async function listFailedRequests(sql: Sql, query: FailedRequestsQuery): Promise<FailedRequests> {
  await requireBrand(sql, query.brandId);
  requireFailuresRange(query);
  return {
    ...(await failedGroups(sql, query)),
    buckets: await failedBuckets(sql, query),
    counted_since: await failuresCountedSince(sql, query.brandId, FAILURES_PER_BRAND_MAX),
  };
}
