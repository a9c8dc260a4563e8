import { type Sql, firstOf, isFound, statementsOf } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import type { Replay, ReplayKey, ReplayRequest } from "../domain/replay.ts";
import { BOUND } from "./lane-bound.ts";
import { UNLEASED } from "./delivery-columns.ts";

/** Events counted for a total, at most: 40 ms. */
const COUNTED_MAX = 100_000;
/** A replay of failed ones looks up the deliveries of each event, which takes a second for this many. So it is counted once. */
const FAILED_COUNTED_MAX = 10_000;

/** Where it continues: after the last event that was read. `~` sorts after every id of the same time. */
const FROM = "coalesce(p.at_created_at, p.since), coalesce(p.at_id, '~')";

/**
 * SQL of up to `limit` events after the position of a replay `p` of a receiver `r`, oldest first, and which of them are replayed. Intake
 * delivers what was created or stored after the start. The bound on created_at alone prunes partitions; the bound on both columns
 * does not.
 */
interface Ahead {
  readonly events: (limit: string) => string;
  readonly isReplayed: string;
}

const IS_SELECTED = "e.type = any(r.events) and not e.test and e.received_at <= p.started_at";

const ALL: Ahead = {
  events: (limit) => `
    select e.id, e.created_at, e.type, e.test, e.received_at from webhook.events e
     where e.brand_id = p.brand_id and (e.created_at, e.id) > (${FROM})
       and e.created_at >= coalesce(p.at_created_at, p.since) and e.created_at <= p.until
     order by e.created_at, e.id limit ${limit}`,
  isReplayed: IS_SELECTED,
};

/** Deliveries in flight are few, and no index has their events: they are read once. */
const FAILED: Ahead = {
  events: (limit) => `
    select f.event_id as id, f.event_created_at as created_at, e.type, e.test, e.received_at
      from (select distinct d.event_created_at, d.event_id from webhook.past_deliveries d
             where d.receiver_id = p.receiver_id and d.state = 'failed' and (d.event_created_at, d.event_id) > (${FROM})
               and d.event_created_at >= coalesce(p.at_created_at, p.since) and d.event_created_at <= p.until
             order by d.event_created_at, d.event_id limit ${limit}) f
      left join webhook.events e on e.id = f.event_id and e.created_at = f.event_created_at
     order by f.event_created_at, f.event_id`,
  isReplayed: `coalesce(${IS_SELECTED}, false)
    and not exists (select from webhook.past_deliveries d
                     where d.event_id = e.id and d.event_created_at = e.created_at and d.receiver_id = p.receiver_id and d.state = 'delivered')
    and not exists (select from webhook.deliveries d where d.event_id = e.id and d.receiver_id = p.receiver_id and d.state = 'pending' and d.${UNLEASED})
    and e.id not in (select d.event_id from webhook.deliveries d where d.state = 'sending' and d.receiver_id = p.receiver_id)`,
};

const countOf = ({ events, isReplayed }: Ahead, limit: string): string =>
  `(select count(*) filter (where ${isReplayed}) from (${events(limit)}) e)`;

const IS_UNFINISHED = "p.finished_at is null";

/** The total is what was queued and what is ahead, so the count gets shorter as the replay advances. That of failed ones is stored. */
const COLUMNS = `p.id, p.receiver_id, p.since, p.until, p.failed_only, p.started_at, p.cancelled_at,
  p.queued, p.finished_at,
  p.queued + case when p.finished_at is not null then 0
                  when p.failed_only then greatest(0, p.counted - p.queued)
                  else ${countOf(ALL, `greatest(0, ${COUNTED_MAX} - p.queued)`)} end as total`;
const TABLES = "webhook.replays p join webhook.receivers r on r.id = p.receiver_id";

const statements = statementsOf("replays", {
  insert: `insert into webhook.replays (id, brand_id, receiver_id, since, until, requested_until, failed_only, started_at, counted)
           values ($1, $2, $3, $4, least($5::timestamptz, $7::timestamptz), $5, $6, $7, $8)`,
  find: `select ${COLUMNS} from ${TABLES} where p.brand_id = $1 and p.id = $2`,
  findUnfinished: `select p.id, p.since, p.requested_until, p.failed_only from webhook.replays p where p.receiver_id = $1 and ${IS_UNFINISHED}`,
  findLatest: `select ${COLUMNS} from ${TABLES} where p.brand_id = $1 and p.receiver_id = $2
            order by (${IS_UNFINISHED}) desc, p.created_at desc limit 1`,
  count: countStatement(ALL, COUNTED_MAX),
  countFailed: countStatement(FAILED, FAILED_COUNTED_MAX),
  cancel: `update webhook.replays p set finished_at = now, cancelled_at = now from clock_timestamp() now
            where p.brand_id = $1 and p.id = $2 and ${IS_UNFINISHED} returning p.id`,
  cancelAll: `update webhook.replays p set finished_at = now, cancelled_at = now from clock_timestamp() now
            where p.brand_id = $1 and ${IS_UNFINISHED}`,
  /** Skips a replay that another worker has, or whose lane is locked: it waits for no other transaction, so it never deadlocks. */
  take: `select p.id, p.brand_id, p.receiver_id, p.failed_only from webhook.replays p join webhook.lanes l on l.receiver_id = p.receiver_id
            where ${IS_UNFINISHED} and p.id <> all($1::text[])
            order by p.id limit 1 for update of p, l skip locked`,
  hasUnfinished: `select from webhook.replays p where ${IS_UNFINISHED} and p.id <> all($1::text[]) limit 1`,
  // From the bound on: an older snapshot keeps the entries of all that was sent.
  hasPendingBeyond: `select from webhook.lanes l cross join lateral (
             select from webhook.deliveries d where d.receiver_id = l.receiver_id and d.state = 'pending' and (d.due_at, d.id) >= ${BOUND}
              order by d.due_at, d.id offset $2 limit 1) d
            where l.receiver_id = $1`,
  ahead: aheadStatement(ALL),
  failedAhead: aheadStatement(FAILED),
  advance: `update webhook.replays p
              set at_created_at = coalesce($2::timestamptz, p.at_created_at), at_id = coalesce($3, p.at_id), queued = p.queued + $4::int,
                  finished_at = case when $5::boolean then clock_timestamp() else p.finished_at end
            where p.id = $1 returning p.queued`,
});

function aheadStatement({ events, isReplayed }: Ahead): string {
  return `select e.id, e.created_at, e.type, ${isReplayed} as replayed from ${TABLES} cross join lateral (${events("$2::int")}) e where p.id = $1
           order by e.created_at, e.id`;
}

function countStatement(ahead: Ahead, max: number): string {
  return `
    select ${countOf(ahead, String(max))} as events
      from (select $1::text as brand_id, $2::text as receiver_id, $3::timestamptz as since, least($4::timestamptz, $5::timestamptz) as until,
                   $5::timestamptz as started_at, null::timestamptz as at_created_at, null::text as at_id) p
      join webhook.receivers r on r.brand_id = p.brand_id and r.id = p.receiver_id`;
}

/**
 * Adds a replay. The caller, who has locked the lane, refuses a second unfinished replay of a receiver.
 *
 * @param counted its events, if it is one of failed ones
 */
export async function insertReplay(sql: Sql, id: string, startedAt: string, counted: number | null, request: ReplayRequest): Promise<void> {
  const { brandId, receiverId, since, until, failedOnly } = request;
  await sql.query(statements.insert, [id, brandId, receiverId, since, until, failedOnly, startedAt, counted]);
}

/** Returns how many events a replay would queue if it started now. Undefined if the brand has no such receiver. */
export async function countReplay(sql: Sql, now: string, request: ReplayRequest): Promise<number | undefined> {
  const { brandId, receiverId, since, until, failedOnly } = request;
  const statement = failedOnly ? statements.countFailed : statements.count;
  const [row] = await sql.query<{ events: number }>(statement, [brandId, receiverId, since, until, now]);
  return row?.events;
}

export const findReplay = (sql: Sql, { brandId, replayId }: ReplayKey): Promise<Replay | undefined> =>
  firstOf(sql.query<Replay>(statements.find, [brandId, replayId]));

/** Returns the receiver's unfinished replay, or else its last one that is stored. */
export const findLatestReplay = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<Replay | undefined> =>
  firstOf(sql.query<Replay>(statements.findLatest, [brandId, receiverId]));

/** Ends a replay. Waits for the batch in progress. @returns false, and changes nothing, if it has finished or is another brand's */
export const endReplay = (sql: Sql, { brandId, replayId }: ReplayKey): Promise<boolean> =>
  isFound(sql.query(statements.cancel, [brandId, replayId]));

export const endReplaysOf = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.cancelAll, [brandId]);

export interface UnfinishedReplay {
  readonly id: string;
  readonly since: string;
  readonly requested_until: string | null;
  readonly failed_only: boolean;
}

export const findUnfinishedReplay = (sql: Sql, receiverId: string): Promise<UnfinishedReplay | undefined> =>
  firstOf(sql.query<UnfinishedReplay>(statements.findUnfinished, [receiverId]));

export interface TakenReplay {
  readonly id: string;
  readonly brand_id: string;
  readonly receiver_id: string;
  readonly failed_only: boolean;
}

/**
 * Locks an unfinished replay and its lane until the transaction ends.
 *
 * @param except replays to skip
 * @returns undefined if all others are finished or locked
 */
export const takeReplay = (sql: Sql, except: readonly string[]): Promise<TakenReplay | undefined> =>
  firstOf(sql.query<TakenReplay>(statements.take, [except]));

export const hasUnfinishedReplays = (sql: Sql, except: readonly string[]): Promise<boolean> =>
  isFound(sql.query(statements.hasUnfinished, [except]));

/** Whether more than `count` deliveries of the receiver are pending. */
export const hasPendingBeyond = (sql: Sql, receiverId: string, count: number): Promise<boolean> =>
  isFound(sql.query(statements.hasPendingBeyond, [receiverId, count]));

export interface EventAhead {
  readonly id: string;
  readonly created_at: string;
  readonly type: string;
  /** Whether it is sent again; the others are skipped. */
  readonly replayed: boolean;
}

/** Returns the next events of the brand, or of the receiver's failed deliveries, oldest first. */
export function eventsAhead(sql: Sql, { id, failed_only }: TakenReplay, limit: number): Promise<EventAhead[]> {
  return sql.query<EventAhead>(failed_only ? statements.failedAhead : statements.ahead, [id, limit]);
}

/** @returns how many deliveries the replay has queued in all */
export const advanceReplay = async (
  sql: Sql,
  replayId: string,
  { to, queued, finished }: { readonly to: EventAhead | undefined; readonly queued: number; readonly finished: boolean },
): Promise<number> =>
  (await firstOf(sql.query<{ queued: number }>(statements.advance, [replayId, to?.created_at, to?.id, queued, finished])))?.queued ?? 0;
