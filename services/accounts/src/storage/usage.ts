import { isFound, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import type { ClientCount, ClientUsage, GetUsageRequest, MinuteUsage, UsageBucket } from "@brand-records/proto/accounts/v1";
import { CLIENT_NAMES_MAX, OTHER_CLIENTS } from "../domain/usage.ts";
import { brandRowsOf, oldRowsOf } from "./row-deletions.ts";

const ADDED = unnestRows(
  { brand_id: "text", minute: "timestamptz", key_id: "text", accepted: "bigint", refused: "bigint" },
  { as: "added", after: 2 },
);

const START = "date_bin(make_interval(mins => $4), m.minute, $2)";
const IN_RANGE = "(select * from accounts.usage_minutes where brand_id = $1 and minute >= $2 and minute < $3)";

const statements = statementsOf("usage_minutes", {
  insertBatch: "insert into accounts.usage_batches (id) values ($1) on conflict do nothing returning 1",
  // Every gateway's batch locks rows in the same order, so that two never deadlock. Summed first: one statement must not
  // change a row twice.
  add: `insert into accounts.usage_minutes as u (brand_id, minute, key_id, accepted, refused)
           select added.brand_id, added.minute, added.key_id, sum(added.accepted), sum(added.refused)
             from ${ADDED.relation}
             join accounts.keys k on k.id = added.key_id and k.brand_id = added.brand_id
            where added.minute >= now() - make_interval(days => $1) and added.minute <= now() + make_interval(mins => $2)
            group by 1, 2, 3 order by 1, 2, 3
           on conflict (brand_id, minute, key_id) do update
              set accepted = u.accepted + excluded.accepted, refused = u.refused + excluded.refused`,
  // Summed by minute first: the busiest minute of a brand is not the sum of its keys' busiest minutes.
  buckets: `select ${START} as start, null as key_id,
                  sum(m.accepted)::bigint as accepted, sum(m.refused)::bigint as refused, max(m.accepted)::bigint as peak_accepted
             from (select minute, sum(accepted) as accepted, sum(refused) as refused from ${IN_RANGE} k group by 1) m
            group by 1 order by 1 limit $5`,
  // A key has one row a minute.
  bucketsByKey: `select ${START} as start, m.key_id,
                  sum(m.accepted)::bigint as accepted, sum(m.refused)::bigint as refused, max(m.accepted) as peak_accepted
             from ${IN_RANGE} m group by 1, 2 order by 1, 2 limit $5`,
});

/** Returns false if the batch is recorded. Waits for a transaction that is recording it. */
export const insertUsageBatch = (sql: Sql, id: string): Promise<boolean> => isFound(sql.query(statements.insertBatch, [id]));

/** Counts are kept for times from `keepDays` ago to `minutesAhead` from now. */
export interface KeptUsage {
  readonly keepDays: number;
  readonly minutesAhead: number;
}

/** Adds counts of keys that their brand has, for minutes that are kept; ignores all others. */
export const addUsage = (sql: Sql, minutes: readonly MinuteUsage[], { keepDays, minutesAhead }: KeptUsage): Promise<unknown> =>
  sql.query(statements.add, [keepDays, minutesAhead, ...ADDED.values(minutes)]);

export const usageBuckets = (
  sql: Sql,
  { brand_id, from, to, bucket_minutes, by_key }: GetUsageRequest,
  limit: number,
): Promise<UsageBucket[]> =>
  sql.query<UsageBucket>(by_key ? statements.bucketsByKey : statements.buckets, [brand_id, from, to, bucket_minutes, limit]);

/** Deletes counts that are older than a number of days. */
export const deleteOldUsage = oldRowsOf("usage_minutes", "minute < now() - make_interval(days => $1) order by minute");
export const deleteUsageOf = brandRowsOf("usage_minutes");

/** Deletes ids of batches that are older than a number of days. */
export const deleteOldBatches = oldRowsOf("usage_batches", "recorded_at < now() - make_interval(days => $1)");

const ADDED_CLIENTS = unnestRows(
  { brand_id: "text", day: "text", key_id: "text", name: "text", messages: "bigint", connecting: "bigint" },
  { as: "added", after: 4 },
);

const clientStatements = statementsOf("usage_clients", {
  takeTurn: "select pg_advisory_xact_lock(hashtextextended('accounts.usage_clients', 0))",
  // New names take the places that are left, the most frequent first.
  add: `with given as (
             select added.brand_id, added.day::date as day, added.key_id, added.name, sum(added.messages) as messages, sum(added.connecting) as connecting
               from ${ADDED_CLIENTS.relation}
               join accounts.keys k on k.id = added.key_id and k.brand_id = added.brand_id
              where added.day::date >= ((now() - make_interval(days => $1)) at time zone 'Asia/Manila')::date
                and added.day::date <= ((now() + make_interval(mins => $2)) at time zone 'Asia/Manila')::date
              group by 1, 2, 3, 4),
           ranked as (
             select g.*, known.name is not null as is_known,
                    (select count(*) from accounts.usage_clients c
                      where (c.brand_id, c.day, c.key_id) = (g.brand_id, g.day, g.key_id) and c.name <> $4) as taken,
                    row_number() over (partition by g.brand_id, g.day, g.key_id, known.name is null order by g.messages desc, g.name) as place
               from given g
               left join accounts.usage_clients known
                 on (known.brand_id, known.day, known.key_id, known.name) = (g.brand_id, g.day, g.key_id, g.name))
           insert into accounts.usage_clients as u (brand_id, day, key_id, name, messages, connecting)
           select brand_id, day, key_id, case when is_known or place <= $3 - taken then name else $4 end, sum(messages), sum(connecting)
             from ranked group by 1, 2, 3, 4
           on conflict (brand_id, day, key_id, name) do update
              set messages = u.messages + excluded.messages, connecting = u.connecting + excluded.connecting`,
  counts: `with counted as (
             select key_id, name, sum(messages) as messages, sum(connecting) as connecting
               from accounts.usage_clients
              where brand_id = $1
                and day >= ($2::timestamptz at time zone 'Asia/Manila')::date
                and day <= (($3::timestamptz - interval '1 ms') at time zone 'Asia/Manila')::date
              group by 1, 2),
           ranked as (select *, row_number() over (order by messages desc, key_id, name) as place from counted)
           select key_id, case when place <= $4 then name else $5 end as name, sum(messages)::bigint as messages, sum(connecting)::bigint as connecting
             from ranked group by 1, 2 order by 3 desc, 1, 2`,
});

/**
 * Adds messages of assistants, for keys that their brand has; ignores all others. A name that is one too many for its key and day is counted as
 * `other`: gateways take turns, each until its transaction ends. Within one that has locked no row of this table.
 */
export async function addClientUsage(sql: Sql, clients: readonly ClientUsage[], { keepDays, minutesAhead }: KeptUsage): Promise<void> {
  if (clients.length === 0) return;
  await sql.query(clientStatements.takeTurn);
  await sql.query(clientStatements.add, [keepDays, minutesAhead, CLIENT_NAMES_MAX, OTHER_CLIENTS, ...ADDED_CLIENTS.values(clients)]);
}

/**
 * Returns messages by key and name in the days of the range, the most frequent first. Beyond `limit` names, the rest of each key is its
 * `other`.
 */
export const clientCounts = (sql: Sql, { brand_id, from, to }: GetUsageRequest, limit: number): Promise<ClientCount[]> =>
  sql.query<ClientCount>(clientStatements.counts, [brand_id, from, to, limit, OTHER_CLIENTS]);

/** Deletes counts of days more than a number of days ago. */
export const deleteOldClientUsage = oldRowsOf(
  "usage_clients",
  "day < ((now() - make_interval(days => $1)) at time zone 'Asia/Manila')::date order by day",
);
export const deleteClientUsageOf = brandRowsOf("usage_clients");
