import { statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import { type BrandRequests, ServedRequests } from "@brand-records/proto/accounts/v1";
import { type RecentRequest, REQUESTS_PER_BRAND_MAX } from "../domain/recent-requests.ts";
import { brandRowsOf, oldRowsOf } from "./row-deletions.ts";

const ADDED = unnestRows({ brand_id: "text", count: "int", requests: "bytea" }, { as: "added", after: 1 });

const statements = statementsOf("recent_requests", {
  takeTurn: "select pg_advisory_xact_lock(hashtextextended('accounts.recent_requests', 0))",
  // Deletes no more than it adds: a row has one request at least.
  add: `with numbered as (
             select added.brand_id, coalesce(last.until, 0) + added.count as until, added.requests
               from ${ADDED.relation}
               join accounts.brands b on b.id = added.brand_id and b.deletion_started_at is null
               left join lateral (
                 select r.until from accounts.recent_requests r
                  where r.brand_id = added.brand_id order by r.until desc limit 1) last on true),
           beyond as (
             delete from accounts.recent_requests r using numbered n where r.brand_id = n.brand_id and r.until <= n.until - $1)
           insert into accounts.recent_requests (brand_id, until, requests)
           select brand_id, until, requests from numbered on conflict do nothing`,
  ofBrand: "select until, requests from accounts.recent_requests where brand_id = $1 order by until desc",
});

/** Adds the last requests of brands, and deletes what is then beyond those that a brand keeps. Ignores unknown brands. One at a time numbers them. */
export async function addRecentRequests(sql: Sql, brands: readonly BrandRequests[]): Promise<void> {
  if (brands.length === 0) return;
  await sql.query(statements.takeTurn);
  await sql.query(statements.add, [REQUESTS_PER_BRAND_MAX, ...ADDED.values(brands)]);
}

/** Returns the last requests of a brand that began at `since` or later, newest first. */
export async function recentRequests(sql: Sql, brandId: string, since: string): Promise<RecentRequest[]> {
  const rows = await sql.query<{ readonly until: number; readonly requests: Buffer }>(statements.ofBrand, [brandId]);
  const found = rows.flatMap(({ until, requests: bytes }) => {
    const newestFirst = ServedRequests.decode(bytes).requests.toReversed();
    return newestFirst.map((request, index) => ({ ...request, place: until - index }));
  });
  // Gateways record theirs in batches.
  const byTime = found.filter(({ at }) => at >= since).toSorted((one, other) => Number(one.at < other.at) - Number(one.at > other.at));
  return byTime.slice(0, REQUESTS_PER_BRAND_MAX);
}

/** Deletes what was recorded a number of hours ago, or earlier. */
export const deleteOldRequests = oldRowsOf("recent_requests", "recorded_at <= now() - make_interval(hours => $1) order by recorded_at");
export const deleteRequestsOf = brandRowsOf("recent_requests");
