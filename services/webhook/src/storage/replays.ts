import type { Sql, Statement } from "@brand-records/postgres";
import type { Replay, ReplayKey } from "../domain/replay.ts";

/** Events counted for the total, at most: 40 ms. */
const REPLAY_COUNTED_MAX = 100_000;

/** Where it continues: after the last event that was read. `~` sorts after every id of the same time. */
const FROM = "coalesce(p.at_created_at, p.since), coalesce(p.at_id, '~')";

/**
 * Events after its position, oldest first. Intake delivers what was created or stored after `until`. The bound on
 * created_at alone prunes partitions; the bound on both columns does not.
 */
const AHEAD = `
  select e.id, e.created_at, e.type, e.test, e.received_at from webhook.events e
   where e.brand_id = p.brand_id and (e.created_at, e.id) > (${FROM})
     and e.created_at >= coalesce(p.at_created_at, p.since) and e.created_at <= p.until
   order by e.created_at, e.id`;
const IS_REPLAYED = "e.type = any(r.events) and not e.test and e.received_at <= p.until";

/** The total is what was queued and what is ahead, so the count gets shorter as the replay advances. */
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
  findUnfinished: {
    name: "replays.find_unfinished",
    text: `select p.id, p.since from webhook.replays p where p.receiver_id = $1 and p.finished_at is null`,
  },
  findBrand: { name: "replays.find_brand", text: "select p.brand_id from webhook.replays p where p.id = $1" },
  /** Skips a replay that another worker has, or whose lane is locked: it waits for no other transaction, so it never deadlocks. */
  take: {
    name: "replays.take",
    text: `select p.id, p.brand_id, p.receiver_id from webhook.replays p join webhook.lanes l on l.receiver_id = p.receiver_id
            where p.finished_at is null and p.id <> all($1::text[])
            order by p.id limit 1 for update of p, l skip locked`,
  },
  hasUnfinished: {
    name: "replays.has_unfinished",
    text: "select from webhook.replays p where p.finished_at is null and p.id <> all($1::text[]) limit 1",
  },
  hasPendingBeyond: {
    name: "replays.has_pending_beyond",
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

/** The caller, who has locked the lane, refuses a second unfinished replay of a receiver. */
export async function insertReplay(sql: Sql, { id, brandId, receiverId, since, until }: NewReplay): Promise<void> {
  await sql.query(statements.insert, [id, brandId, receiverId, since, until]);
}

export async function findReplay(sql: Sql, { brandId, replayId }: ReplayKey): Promise<Replay | undefined> {
  const [row] = await sql.query<Replay>(statements.find, [brandId, replayId]);
  return row;
}

/** For operators only: every other look-up names the brand. */
export async function findBrandOfReplay(sql: Sql, replayId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ brand_id: string }>(statements.findBrand, [replayId]);
  return row?.brand_id;
}

/** Returns the receiver's unfinished replay, if it has one. */
export async function findUnfinishedReplay(
  sql: Sql,
  receiverId: string,
): Promise<{ readonly id: string; readonly since: string } | undefined> {
  const [row] = await sql.query<{ id: string; since: string }>(statements.findUnfinished, [receiverId]);
  return row;
}

export interface TakenReplay {
  readonly id: string;
  readonly brand_id: string;
  readonly receiver_id: string;
}

/**
 * Locks an unfinished replay and its lane until the transaction ends.
 *
 * @param except replays to skip
 * @returns undefined if all others are finished or locked
 */
export async function takeReplay(sql: Sql, except: readonly string[]): Promise<TakenReplay | undefined> {
  const [row] = await sql.query<TakenReplay>(statements.take, [except]);
  return row;
}

/** Whether any other replay is unfinished, locked or not. */
export async function hasUnfinishedReplays(sql: Sql, except: readonly string[]): Promise<boolean> {
  return (await sql.query(statements.hasUnfinished, [except])).length > 0;
}

/** Whether more than `count` deliveries of the receiver are pending. */
export async function hasPendingBeyond(sql: Sql, receiverId: string, count: number): Promise<boolean> {
  return (await sql.query(statements.hasPendingBeyond, [receiverId, count])).length > 0;
}

export interface EventAhead {
  readonly id: string;
  readonly created_at: string;
  /** Whether it is sent again; the others are skipped. */
  readonly replayed: boolean;
}

/** Returns the brand's next events, oldest first. */
export function eventsAhead(sql: Sql, replayId: string, limit: number): Promise<EventAhead[]> {
  return sql.query<EventAhead>(statements.ahead, [replayId, limit]);
}

/** @returns how many deliveries the replay has queued in all */
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
