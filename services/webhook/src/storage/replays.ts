import type { Sql, Statement } from "@brand-records/postgres";
import type { Replay, ReplayKey } from "../domain/replay.ts";

/** Events looked at, to say how many there are in all: 40 ms. */
export const REPLAY_COUNTED_MAX = 100_000;

/** Where it goes on: behind the last event that was looked at. `~` is after every id of the same time. */
const FROM = "coalesce(p.at_created_at, p.since), coalesce(p.at_id, '~')";

/**
 * Events behind its position, in their order. Later ones than `until` are delivered without it, and so are those that were
 * taken in later, though they happened before. The bound on created_at alone leaves out partitions, which that on both
 * columns does not.
 */
const AHEAD = `
  select e.id, e.created_at, e.type, e.test, e.received_at from webhook.events e
   where e.brand_id = p.brand_id and (e.created_at, e.id) > (${FROM})
     and e.created_at >= coalesce(p.at_created_at, p.since) and e.created_at <= p.until
   order by e.created_at, e.id`;
const IS_REPLAYED = "e.type = any(r.events) and not e.test and e.received_at <= p.until";

/** What is ahead is counted, not what was behind the start: it is there, and it becomes less. */
const COLUMNS = `p.id, p.receiver_id, p.since, p.until, p.queued, p.finished_at,
  p.queued + case when p.finished_at is not null then 0 else
    (select count(*) filter (where ${IS_REPLAYED})
       from (${AHEAD} limit greatest(0, ${REPLAY_COUNTED_MAX} - p.queued)) e) end as total`;
const TABLES = "webhook.replays p join webhook.receivers r on r.id = p.receiver_id";

const statements = {
  insert: {
    name: "replays.insert",
    text: "insert into webhook.replays (id, brand_id, receiver_id, since, until) values ($1, $2, $3, $4, $5)",
  },
  find: { name: "replays.find", text: `select ${COLUMNS} from ${TABLES} where p.brand_id = $1 and p.id = $2` },
  underWay: {
    name: "replays.under_way",
    text: `select p.id, p.since from webhook.replays p where p.receiver_id = $1 and p.finished_at is null`,
  },
  /** Waits for nobody, neither for another worker nor for whoever has the lane, so it is never part of a circle of waiting. */
  take: {
    name: "replays.take",
    text: `select p.id, p.brand_id, p.receiver_id from webhook.replays p join webhook.lanes l on l.receiver_id = p.receiver_id
            where p.finished_at is null and p.id <> all($1::text[])
            order by p.id limit 1 for update of p, l skip locked`,
  },
  left: {
    name: "replays.left",
    text: "select from webhook.replays p where p.finished_at is null and p.id <> all($1::text[]) limit 1",
  },
  waitsBeyond: {
    name: "replays.waits_beyond",
    text: `select from webhook.deliveries d where d.receiver_id = $1 and d.state = 'pending' order by d.due_at, d.id offset $2 limit 1`,
  },
  ahead: {
    name: "replays.ahead",
    text: `select e.id, e.created_at, ${IS_REPLAYED} as replayed from ${TABLES} cross join lateral (${AHEAD} limit $2) e where p.id = $1
            order by e.created_at, e.id`,
  },
  advance: {
    name: "replays.advance",
    text: `update webhook.replays p
              set at_created_at = coalesce($2::timestamptz, p.at_created_at), at_id = coalesce($3, p.at_id), queued = p.queued + $4::int,
                  finished_at = case when $5::boolean then clock_timestamp() end
            where p.id = $1 returning p.queued`,
  },
} satisfies Record<string, Statement>;

export interface NewReplay {
  readonly id: string;
  readonly brandId: string;
  readonly receiverId: string;
  readonly since: string;
  readonly until: string;
}

/** A second one of a receiver is for the caller to refuse, who holds the lane. */
export async function insertReplay(sql: Sql, { id, brandId, receiverId, since, until }: NewReplay): Promise<void> {
  await sql.query(statements.insert, [id, brandId, receiverId, since, until]);
}

export async function findReplay(sql: Sql, { brandId, replayId }: ReplayKey): Promise<Replay | undefined> {
  const [row] = await sql.query<Replay>(statements.find, [brandId, replayId]);
  return row;
}

/** The receiver's replay that is not finished, if there is one. */
export async function replayUnderWay(sql: Sql, receiverId: string): Promise<{ readonly id: string; readonly since: string } | undefined> {
  const [row] = await sql.query<{ id: string; since: string }>(statements.underWay, [receiverId]);
  return row;
}

export interface TakenReplay {
  readonly id: string;
  readonly brand_id: string;
  readonly receiver_id: string;
}

/** One that nobody works on, with its lane, until the transaction ends. Undefined if all others are finished or in somebody's hands. */
export async function takeReplay(sql: Sql, except: readonly string[]): Promise<TakenReplay | undefined> {
  const [row] = await sql.query<TakenReplay>(statements.take, [except]);
  return row;
}

/** Whether any of the others is not finished, in whosever hands it is. */
export async function areReplaysLeft(sql: Sql, except: readonly string[]): Promise<boolean> {
  return (await sql.query(statements.left, [except])).length > 0;
}

/** Whether more deliveries than so many wait for the receiver. */
export async function waitsBeyond(sql: Sql, receiverId: string, count: number): Promise<boolean> {
  return (await sql.query(statements.waitsBeyond, [receiverId, count])).length > 0;
}

export interface EventAhead {
  readonly id: string;
  readonly created_at: string;
  /** Whether it is one to be sent again; the others are only passed. */
  readonly replayed: boolean;
}

/** The next events of the brand, oldest first. */
export function eventsAhead(sql: Sql, replayId: string, limit: number): Promise<EventAhead[]> {
  return sql.query<EventAhead>(statements.ahead, [replayId, limit]);
}

/** @returns how many it has queued in all */
export async function advanceReplay(
  sql: Sql,
  replayId: string,
  { to, queued, finished }: { readonly to: EventAhead | undefined; readonly queued: number; readonly finished: boolean },
): Promise<number> {
  const [row] = await sql.query<{ queued: number }>(statements.advance, [
    replayId,
    to?.created_at ?? null,
    to?.id ?? null,
    queued,
    finished,
  ]);
  return row?.queued ?? 0;
}
