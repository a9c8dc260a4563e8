import type { Database, Sql } from "@brand-records/postgres";
import {
  COUNTS_MAX,
  MINUTES_AHEAD_MAX,
  requireRange,
  tooManyCounts,
  type MinuteUsage,
  type UsageBucket,
  type UsageQuery,
} from "../domain/usage.ts";
import { addUsage, insertUsageBatch, usageBuckets } from "../storage/usage.ts";
import { requireBrand } from "./brands.ts";

/** Adds a gateway's counts, once for each batch. Returns false if the batch was recorded before. */
export function recordUsage(db: Database, batchId: string, minutes: readonly MinuteUsage[], keepDays: number): Promise<boolean> {
  return db.transaction(async (sql) => {
    if (!(await insertUsageBatch(sql, batchId))) return false;
    await addUsage(sql, minutes, { keepDays, minutesAhead: MINUTES_AHEAD_MAX });
    return true;
  });
}

/** @throws AppError `not_found` if there is no such brand, `invalid_request` if the query asks for too much */
export async function getUsage(sql: Sql, query: UsageQuery): Promise<UsageBucket[]> {
  await requireBrand(sql, query.brandId);
  requireRange(query);
  const buckets = await usageBuckets(sql, query, COUNTS_MAX + 1);
  if (buckets.length > COUNTS_MAX) throw tooManyCounts();
  return buckets;
}
