import type { Sql } from "@brand-records/postgres";
import { FAILURES_PER_BRAND_MAX, requireFailuresRange, type FailedRequests, type FailedRequestsQuery } from "../domain/failed-requests.ts";
import { failedBuckets, failedGroups, failuresCountedSince } from "../storage/failed-requests.ts";
import { requireBrand } from "./brands.ts";

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
