import { type Sql, firstOf, isFound, statementsOf } from "@brand-records/postgres";
import { TESTS_SECONDS, type ReceiverKey } from "../domain/receiver.ts";
import { dueBy } from "./lane-bound.ts";

/**
 * Statements that lock or update `webhook.lanes` and no other table; those that count deliveries in locked lanes are in locked-lanes.ts, those of
 * claims in lanes-to-serve.ts. A lane is one receiver's queue: a row for each receiver. lane-bound.ts says where its deliveries begin.
 *
 * The locking order of the service:
 *
 * 1. A transaction that adds deliveries, writes results, or enables, disables or deletes a receiver locks the lanes first;
 *    brands, deliveries, receivers and replays come after them.
 * 2. Several lanes are locked by one statement, in the order of receiver_id.
 * 3. A statement that reads rows of a lane comes after the one that locks the lane. Its snapshot is then taken after the lock, so it
 *    contains what another transaction committed while this one waited.
 * 4. Claims and replay workers skip locked lanes: they wait for no other transaction, so they are never part of a deadlock.
 *
 * Without the lock, a claim could find a lane empty and set its `next_due` to infinity while another transaction adds a delivery to
 * it. No sender would then look for that delivery.
 */

/** A column of `webhook.lanes l`: until when its open circuit keeps it from sending. A held lane waits for a member instead. */
export const PAUSED_UNTIL = "case when l.open_until > now() and not l.held then l.open_until end as paused_until";

/** A condition on `webhook.lanes l`: it has only failed for an hour, and is paused, or was until a moment ago: between pauses there is a try. */
export const IS_LONG_PAUSED = `not l.held and l.trips > 0 and l.open_until > now() - interval '10 minutes'
              and l.first_failure_at <= now() - interval '1 hour'`;

const statements = statementsOf("lanes", {
  insert: "insert into webhook.lanes (receiver_id) values ($1)",
  lockOne: `select from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id
            where r.brand_id = $1 and r.id = $2 for update of l`,
  lock: "select receiver_id, ctid from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id for update",
  lockSelecting: `select l.receiver_id, l.ctid from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id
            where r.brand_id = any($1::text[]) and r.events && $2::text[]
            order by l.receiver_id for update of l`,
  lockOfBrand: `select l.receiver_id from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id
            where r.brand_id = $1 order by l.receiver_id for update of l`,
  status: `select l.held, ${PAUSED_UNTIL}, l.failed_in_a_row as failures_in_a_row
             from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 and r.id = $2`,
  wake: `update webhook.lanes l set ${dueBy("coalesce($2::timestamptz, now())")} where l.receiver_id = any($1::text[])`,
  /** The time comes before that of every pending delivery: none is due before `next_due`. */
  tryFirst: `update webhook.lanes l set open_until = '-infinity', ${dueBy("f.due")}
             from (select o.receiver_id, case when o.next_due > '-infinity' and o.next_due <= now() then o.next_due - interval '1 microsecond'
                                              else now() end as due from webhook.lanes o where o.receiver_id = $1) f
            where l.receiver_id = f.receiver_id returning f.due::text`,
  /** Senders are notified once for each transaction, whatever its size. Postgres delivers the notification at the commit. */
  notifySenders: "select pg_notify('webhook_deliveries', '')",
  hold: "update webhook.lanes set held = true where receiver_id = $1",
  holdAll:
    "update webhook.lanes set held = true where not held and receiver_id in (select r.id from webhook.receivers r where r.brand_id = $1)",
  lowerLimit: "update webhook.lanes set max_in_flight = $2::int where receiver_id = $1 and max_in_flight > $2::int",
  release: `update webhook.lanes l
              set held = false, pause_noted = false, ${closedCircuit()} where l.receiver_id = $1`,
  noteRepeatedTest: `update webhook.lanes l
              set tests_repeated_at =
                    array(select t.at from unnest(l.tests_repeated_at) t(at) where t.at > now() - make_interval(secs => $2)) || now()
            where l.receiver_id = $1`,
  notePause: `update webhook.lanes l set pause_noted = true where receiver_id = $1 and not pause_noted and ${IS_LONG_PAUSED} returning 1`,
  forgetFailures: `update webhook.lanes set ${closedCircuit()}, failures = 0 where receiver_id = $1`,
});

/** Assignments that reset the circuit and the failure clock to their state before the first failure. */
function closedCircuit(): string {
  return `open_until = '-infinity', opened_at = null, failed_in_a_row = 0, trips = 0, first_failure_at = null, failing_since = null`;
}

export const insertLane = (sql: Sql, receiverId: string): Promise<unknown> => sql.query(statements.insert, [receiverId]);

/**
 * Locks a receiver's lane: until this transaction ends, no other transaction adds or claims deliveries of the receiver.
 *
 * @returns false if the brand has no such receiver
 */
export const lockLane = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> =>
  isFound(sql.query(statements.lockOne, [brandId, receiverId]));

/**
 * A locked lane, and where its row is until this transaction changes it. While an older snapshot is open, as a dump's, an index leads to
 * every version of a row since then, some hundred after a minute: only the statement that locks the lane walks over them.
 */
export interface LaneRow {
  readonly receiver_id: string;
  readonly ctid: string;
}

/** Locks the lanes of every receiver of these brands that selects one of these event types. */
export function lockLanesSelecting(sql: Sql, brandIds: readonly string[], types: readonly string[]): Promise<LaneRow[]> {
  return sql.query<LaneRow>(statements.lockSelecting, [brandIds, types]);
}

/** Locks every lane of a brand. Returns the ids of the receivers. */
export async function lockLanesOfBrand(sql: Sql, brandId: string): Promise<string[]> {
  return receiverIds(await sql.query<LaneId>(statements.lockOfBrand, [brandId]));
}

/** Locks these lanes. Ignores deleted receivers, which have no lane. */
export function lockLanes(sql: Sql, receiverIds: readonly string[]): Promise<LaneRow[]> {
  return sql.query<LaneRow>(statements.lock, [receiverIds]);
}

/**
 * Locks the lanes of deliveries whose lease expired. Only deliveries that have a lane count towards the limit: 1,000 deliveries
 * without a lane once hid all others.
 *
 * @param expired condition on `webhook.deliveries d`
 * @param limit upper bound on the deliveries to consider, those whose lease expired first
 * @returns the ids of the receivers
 */
export async function lockLanesOfExpired(sql: Sql, expired: string, limit: number): Promise<string[]> {
  const statement = `
    select l.receiver_id from webhook.lanes l
     where l.receiver_id in (select d.receiver_id from webhook.deliveries d where ${expired} and ${HAS_LANE} order by d.lease_until limit $1)
     order by l.receiver_id for update`;
  return receiverIds(await sql.query<LaneId>(statement, [limit]));
}

/** Condition on `webhook.deliveries d`: its receiver was not deleted. */
export const HAS_LANE = "exists (select from webhook.lanes o where o.receiver_id = d.receiver_id)";

/** Notifies senders of all processes, once the transaction commits. */
export const notifySenders = (sql: Sql): Promise<unknown> => sql.query(statements.notifySenders);

/**
 * Makes lanes due and notifies the senders. The lanes must be locked.
 *
 * @param since the least `due_at` of deliveries that became due. Default: this transaction's time
 */
export async function wakeLanes(sql: Sql, receiverIds: readonly string[], since: string | null = null): Promise<void> {
  await sql.query(statements.wake, [receiverIds, since]);
  await notifySenders(sql);
}

/**
 * Ends the pause of an open circuit, and notifies the senders. While the circuit has not closed, one delivery is tried, and its failure opens it
 * again. The lane must be locked.
 *
 * @returns the `due_at` with which a delivery comes before every other of the lane, in Postgres' own text: a Date would lose its microseconds
 */
export async function tryFirst(sql: Sql, receiverId: string): Promise<string> {
  const [row] = await sql.query<{ due: string }>(statements.tryFirst, [receiverId]);
  if (row === undefined) throw new Error("the locked lane is gone");
  await notifySenders(sql);
  return row.due;
}

/** What keeps a receiver's pending deliveries from being sent. */
export interface LaneStatus {
  readonly held: boolean;
  readonly paused_until: string | null;
  readonly failures_in_a_row: number;
}

/** Returns undefined if the brand has no such receiver. */
export const laneStatus = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<LaneStatus | undefined> =>
  firstOf(sql.query<LaneStatus>(statements.status, [brandId, receiverId]));

/** Holds the lane: none of its deliveries is sent until `releaseLane`. The lane must be locked. */
export const holdLane = (sql: Sql, receiverId: string): Promise<unknown> => sql.query(statements.hold, [receiverId]);

export const holdLanesOfBrand = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.holdAll, [brandId]);

/**
 * Ends the hold. The next claim finds the first pending delivery: what was held may have been dropped meanwhile. Resets circuit and
 * failure clock, because a member has looked at the receiver. Keeps the number of failures that members see.
 */
export const releaseLane = (sql: Sql, receiverId: string): Promise<unknown> => sql.query(statements.release, [receiverId]);

/**
 * Lowers the lane's `max_in_flight` to that of the receiver, if the lane's is higher. Below this limit, each success still raises the
 * lane's. The lane must be locked.
 */
export const limitLane = (sql: Sql, receiverId: string, maxInFlight: number): Promise<unknown> =>
  sql.query(statements.lowerLimit, [receiverId, maxInFlight]);

/** Records that a test is sent again, and forgets when others were, more than `TESTS_SECONDS` ago. The lane must be locked. */
export const noteRepeatedTest = (sql: Sql, receiverId: string): Promise<unknown> =>
  sql.query(statements.noteRepeatedTest, [receiverId, TESTS_SECONDS]);

/** Notes that owners get mail of the pause, and locks the lane. Returns false if it is over, or was noted before. */
export const notePause = (sql: Sql, receiverId: string): Promise<boolean> => isFound(sql.query(statements.notePause, [receiverId]));

/** Resets circuit, failure clock and the number of failures, but not that a pause is noted. The lane must be locked. */
export const forgetFailures = (sql: Sql, receiverId: string): Promise<unknown> => sql.query(statements.forgetFailures, [receiverId]);

interface LaneId {
  readonly receiver_id: string;
}

const receiverIds = (lanes: readonly LaneId[]): string[] => lanes.map(({ receiver_id }) => receiver_id);
