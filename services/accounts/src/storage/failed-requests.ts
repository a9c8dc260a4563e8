import { firstOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import type { FailedMinute, FailedRequests, ListFailedRequestsRequest, ListFailedRequestsResponse } from "@brand-records/proto/accounts/v1";
import { GROUP_REQUEST_IDS_MAX, GROUPS_MAX, newestIds, REQUEST_IDS_MAX } from "../domain/failed-requests.ts";
import { brandRowsOf, oldRowsOf } from "./row-deletions.ts";
import type { KeptUsage } from "./usage.ts";

const ADDED = unnestRows(
  {
    brand_id: "text",
    minute: "timestamptz",
    key_id: "text",
    route: "text",
    code: "text",
    field: "text",
    requests: "bigint",
    request_ids: "jsonb",
  },
  { as: "added", after: 2 },
);

const BRANDS = unnestRows({ brand_id: "text" }, { as: "b", after: 2 });

/** Rows `f` of a brand in a range, as the filters select them. */
const SELECTED = `accounts.failed_requests f
  where f.brand_id = $1 and f.minute >= $2::timestamptz and f.minute < $3::timestamptz
    and ($4::text is null or f.key_id = $4) and ($5::text is null or f.route = $5)
    and ($6::text is null or f.code = $6) and ($7::text is null or f.field = $7)`;

/** SQL of the last ids of an array. */
const lastIds = (array: string): string => `(${array})[greatest(1, cardinality(${array}) - ${REQUEST_IDS_MAX - 1}):]`;

const KEY = "brand_id, minute, key_id, route, code, field";
const ORDER = "minute desc, key_id desc, route desc, code desc, field desc";

const statements = statementsOf("failed_requests", {
  // As for usage: rows are locked in one order, and one statement must not change a row twice.
  add: `with given as (
             select added.brand_id, added.minute, added.key_id, added.route, added.code, added.field, sum(added.requests) as requests,
                    jsonb_agg(added.request_ids) as all_ids
               from ${ADDED.relation}
               join accounts.keys k on k.id = added.key_id and k.brand_id = added.brand_id
              where added.minute >= now() - make_interval(days => $1) and added.minute <= now() + make_interval(mins => $2)
              group by 1, 2, 3, 4, 5, 6)
           insert into accounts.failed_requests as f (${KEY}, requests, request_ids)
           select ${KEY}, requests, ${lastIds("ids")} from given
            cross join lateral (select array(select id from jsonb_array_elements(all_ids) of, jsonb_array_elements_text(of) id) as ids) i
            order by ${KEY}
           on conflict (${KEY}) do update
              set requests = f.requests + excluded.requests, request_ids = ${lastIds("f.request_ids || excluded.request_ids")}`,
  // Groups by hash, as it knows how many counts there are: to sort them by their four texts takes five times as long. Only the minutes of
  // what is returned are sorted. The ids of a group are then looked up for its last minutes.
  groups: {
    isPlannedPerCall: true,
    text: `with groups as (
             select f.key_id, f.route, f.code, f.field, sum(f.requests)::bigint as requests, min(f.minute) as first_at, max(f.minute) as last_at,
                    array_agg(f.minute) as minutes
               from ${SELECTED}
              group by 1, 2, 3, 4 order by 5 desc, 7 desc, 1, 2, 3, 4 limit ${GROUPS_MAX + 1})
           select g.key_id, g.route, g.code, g.field, g.requests, g.first_at, g.last_at, i.ids
             from groups g
            cross join lateral (select array(select m from unnest(g.minutes) m order by m desc limit ${GROUP_REQUEST_IDS_MAX}) as last) l
            cross join lateral (
              select jsonb_agg(to_jsonb(f.request_ids) order by f.minute desc) as ids from accounts.failed_requests f
               where f.brand_id = $1 and f.minute = any(l.last)
                 and (f.key_id, f.route, f.code, f.field) = (g.key_id, g.route, g.code, g.field)) i
            order by g.requests desc, g.last_at desc, g.key_id, g.route, g.code, g.field`,
  },
  buckets: {
    isPlannedPerCall: true,
    text: `select date_bin(make_interval(mins => $8), f.minute, $2::timestamptz) as start, sum(f.requests)::bigint as requests
             from ${SELECTED} group by 1 order by 1`,
  },
  countedSince: `select min(minute) as since from accounts.failed_requests where brand_id = $1 having count(*) >= $2`,
  lateBrands: `select distinct brand_id from accounts.failed_requests where minute >= now() - interval '3 minutes'`,
  // Reads one entry of the primary key for each brand.
  nextBrands: `with recursive brands as (
             (select brand_id from accounts.failed_requests where brand_id > $1 order by brand_id limit 1)
             union all
             select f.brand_id from brands b
              cross join lateral (select brand_id from accounts.failed_requests where brand_id > b.brand_id order by brand_id limit 1) f)
           select brand_id from brands limit $2`,
  // Reads the primary key alone.
  deleteBeyond: `with beyond as (
             select o.* from ${BRANDS.relation} cross join lateral (
               select ${KEY} from accounts.failed_requests f where f.brand_id = b.brand_id order by ${ORDER} offset $1 limit $2) o limit $2)
           delete from accounts.failed_requests f using beyond o
            where (f.brand_id, f.minute, f.key_id, f.route, f.code, f.field) = (o.brand_id, o.minute, o.key_id, o.route, o.code, o.field)
           returning 1`,
});

/** Adds counts of keys that their brand has, for minutes that are kept; ignores all others. Keeps the last request ids. */
export async function addFailedRequests(sql: Sql, failures: readonly FailedMinute[], { keepDays, minutesAhead }: KeptUsage): Promise<void> {
  if (failures.length === 0) return;
  const rows = failures.map((failure) => ({ ...failure, request_ids: JSON.stringify(failure.request_ids) }));
  await sql.query(statements.add, [keepDays, minutesAhead, ...ADDED.values(rows)]);
}

function filterValues({ brand_id, from, to, key_id, route, code, field }: ListFailedRequestsRequest): unknown[] {
  return [brand_id, from, to, key_id, route, code, field];
}

/** Returns the 200 groups with the most requests, those first, and whether there are more. */
export async function failedGroups(
  sql: Sql,
  query: ListFailedRequestsRequest,
): Promise<Pick<ListFailedRequestsResponse, "groups" | "has_more_groups">> {
  const rows = await sql.query<Omit<FailedRequests, "request_ids"> & { readonly ids: readonly string[][] }>(
    statements.groups,
    filterValues(query),
  );
  const groups = rows.slice(0, GROUPS_MAX).map(({ ids, ...group }) => ({ ...group, request_ids: newestIds(ids) }));
  return { groups, has_more_groups: rows.length > GROUPS_MAX };
}

export const failedBuckets = (sql: Sql, query: ListFailedRequestsRequest): Promise<ListFailedRequestsResponse["buckets"]> =>
  sql.query(statements.buckets, [...filterValues(query), query.bucket_minutes]);

/** Returns the oldest minute of a brand that has `max` counts: older ones may have been deleted. Null for every other brand. */
export const failuresCountedSince = async (sql: Sql, brandId: string, max: number): Promise<string | null> =>
  (await firstOf(sql.query<{ since: string }>(statements.countedSince, [brandId, max])))?.since ?? null;

/** Deletes counts that are older than a number of days. */
export const deleteOldFailures = oldRowsOf("failed_requests", "minute < now() - make_interval(days => $1) order by minute");
export const deleteFailuresOf = brandRowsOf("failed_requests");

/** Deletes up to `limit` of the oldest counts of brands that have more than `max`, and had a failure in the last three minutes. Returns how many. */
export async function deleteFailuresBeyond(sql: Sql, max: number, limit: number): Promise<number> {
  return deleteBeyond(sql, await sql.query(statements.lateBrands), max, limit);
}

/**
 * Returns what does the same for `brandsAtOnce` brands at each call, one part of all brands after another, then from the first again: a
 * gateway that could not reach this service for hours adds to minutes of then. It stays at a part of which there may be more to delete.
 */
export function walkFailuresBeyond(sql: Sql, max: number, brandsAtOnce: number): (limit: number) => Promise<number> {
  let after = "";
  return async (limit) => {
    const brands = await sql.query<{ brand_id: string }>(statements.nextBrands, [after, brandsAtOnce]);
    const deleted = await deleteBeyond(sql, brands, max, limit);
    if (deleted < limit) after = brands.length < brandsAtOnce ? "" : (brands.at(-1)?.brand_id ?? "");
    return deleted;
  };
}

async function deleteBeyond(sql: Sql, brands: readonly { readonly brand_id: string }[], max: number, limit: number): Promise<number> {
  if (brands.length === 0) return 0;
  return (await sql.query(statements.deleteBeyond, [max, limit, ...BRANDS.values(brands)])).length;
}
