import type { Sql } from "@brand-records/postgres";
import type {
  GetUsageRequest,
  GetUsageResponse,
  ListFailedRequestsRequest,
  ListFailedRequestsResponse,
  ListRequestsRequest,
  ListRequestsResponse,
  RecordUsageRequest,
} from "@brand-records/proto/accounts/v1";
import type { AccountsDependencies } from "../dependencies.ts";
import { FAILURES_KEEP_DAYS, FAILURES_PER_BRAND_MAX, requireFailuresRange } from "../domain/failed-requests.ts";
import { LIST_PAGE_MAX, pageOf, positionIn } from "../domain/page-token.ts";
import { isListed } from "../domain/recent-requests.ts";
import { CLIENT_COUNTS_MAX, COUNTS_MAX, MINUTES_AHEAD_MAX, requireRange, tooManyCounts } from "../domain/usage.ts";
import { addFailedRequests, failedBuckets, failedGroups, failuresCountedSince } from "../storage/failed-requests.ts";
import { addRecentRequests, recentRequests } from "../storage/recent-requests.ts";
import { addClientUsage, addUsage, clientCounts, insertUsageBatch, usageBuckets } from "../storage/usage.ts";
import { requireBrand } from "./brands.ts";
import { keysNamed } from "./keys.ts";

const HOUR_MS = 3_600_000;

/** Adds a gateway's counts and requests, once for each batch. Returns false if the batch was recorded before. */
export function recordUsage(
  { db, usageKeepDays, requestsKeepHours }: Pick<AccountsDependencies, "db" | "usageKeepDays" | "requestsKeepHours">,
  { batch_id, minutes, clients, failures, ...batch }: RecordUsageRequest,
): Promise<boolean> {
  const kept = { keepDays: usageKeepDays, minutesAhead: MINUTES_AHEAD_MAX };
  const requests = requestsKeepHours > 0 ? batch.requests : [];
  return db.transaction(async (sql) => {
    if (!(await insertUsageBatch(sql, batch_id))) return false;
    await addUsage(sql, minutes, kept);
    await addClientUsage(sql, clients, kept);
    await addFailedRequests(sql, failures, { ...kept, keepDays: FAILURES_KEEP_DAYS });
    // The last: every batch has some, and the next one waits until this transaction ends.
    await addRecentRequests(sql, requests);
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

/** @throws AppError `not_found` if there is no such brand, `invalid_cursor` for a token of another list */
export async function listRequests(sql: Sql, query: ListRequestsRequest, keepHours: number, now: number): Promise<ListRequestsResponse> {
  const { brand_id, key_id, route, status, request_id, page_size, page_token } = query;
  await requireBrand(sql, brand_id);
  const scope = ["requests", brand_id, key_id ?? null, route ?? null, status ?? null, request_id ?? null];
  const after = positionIn(scope, page_token, /^(\S+) (\d{1,15})$/);
  const kept = await recentRequests(sql, brand_id, new Date(now - keepHours * HOUR_MS).toISOString());
  const listed = kept.filter((request) => isListed(request, query, after)).slice(0, page_size + 1);
  const { rows, nextPageToken } = pageOf(listed, page_size, scope, ({ at, place }) => [at, place]);
  return {
    requests: rows,
    next_page_token: nextPageToken,
    routes: [...new Set(kept.map((request) => request.route))].toSorted(),
    statuses: [...new Set(kept.map(({ http_status }) => http_status))].toSorted((one, other) => one - other),
    keys: await keysNamed(sql, brand_id, rows.map(keyOf), LIST_PAGE_MAX),
    keep_hours: keepHours,
  };
}
