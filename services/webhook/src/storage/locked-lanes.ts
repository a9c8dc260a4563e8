import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";
import type { LaneState } from "../domain/lane.ts";
import { lockLanes, notifySenders, type LaneRow } from "./lanes.ts";
import { dueBy } from "./lane-bound.ts";

export interface LockedLane extends LaneState {
  readonly receiverId: string;
  readonly ctid: string;
  readonly url: string;
  /** The receiver's own `max_in_flight`. */
  readonly limit: number;
  readonly isClosed: boolean;
}

/** A locked lane is read first, and apart: an index of the lanes would lead to all its versions. */
const READ_LANES = {
  name: "locked_lanes.read",
  text: `with l as materialized (select ctid, * from webhook.lanes where ctid = any($1::tid[]))
  select l.receiver_id as "receiverId", l.ctid, r.url, b.deletion_started_at is not null as "isClosed", r.max_in_flight as "limit", l.max_in_flight as "maxInFlight", l.failed_in_a_row as "failedInARow",
         l.trips, l.failures, l.pause_noted as "pauseNoted", l.last_status as "lastStatus", l.last_outcome as "lastOutcome",
         extract(epoch from clock_timestamp() - l.opened_at)::float8 * 1000 as "openedMsAgo",
         extract(epoch from l.first_failure_at)::float8 * 1000 as "firstFailureAt",
         extract(epoch from l.failing_since)::float8 * 1000 as "failingSince"
    from l join webhook.receivers r on r.id = l.receiver_id join webhook.brands b on b.brand_id = r.brand_id`,
} satisfies Statement;

type ReadLane = Omit<LockedLane, "openedAt"> & { readonly openedMsAgo: number | null };

/**
 * Locks and reads these lanes. The result omits deleted receivers, which have no lane.
 *
 * @param clock milliseconds since the epoch, by the clock of the attempts that ended. `openedAt` is by the same one: the database measures how
 * long ago the circuit opened, because a process whose clock is ahead of another's would have the other's probes count as older. After a
 * failover to a server whose clock is behind, that may lie in the future
 */
export async function lockAndReadLanes(sql: Sql, receiverIds: readonly string[], clock: () => number): Promise<LockedLane[]> {
  const rows = await lockLanes(sql, receiverIds);
  const lanes = await sql.query<ReadLane>(READ_LANES, [rows.map(({ ctid }) => ctid)]);
  const readAt = clock();
  return lanes.map(({ openedMsAgo, ...lane }) => ({ ...lane, openedAt: openedMsAgo === null ? null : readAt - Math.max(0, openedMsAgo) }));
}

/**
 * Condition on a locked lane `l`, for a relation `t` with its ctid. On nothing else: a condition on receiver_id as well could be looked up first.
 * Return the receiver_id for `requireAll`.
 */
const IS_LOCKED = "l.ctid = t.ctid";

type LaneId = Pick<LaneRow, "receiver_id">;

function requireAll(wanted: readonly LaneId[], changed: readonly LaneId[]): void {
  const changedIds = new Set(changed.map(({ receiver_id }) => receiver_id));
  const found = wanted.filter(({ receiver_id }) => changedIds.has(receiver_id));
  if (found.length !== wanted.length) throw new Error(`${found.length} of ${wanted.length} lanes were where they had been locked`);
}

export interface LaneUpdate {
  readonly receiverId: string;
  readonly ctid: string;
  readonly lane: LaneState;
  readonly ended: number;
  /** Keeps the circuit open for this long. Undefined closes it after a success, and otherwise leaves it as it is. */
  readonly openSeconds: number | undefined;
  /** Whether the circuit has opened now. */
  readonly hasOpened: boolean;
  /** Time until the first retry is due; undefined if there is none. */
  readonly dueInSeconds: number | undefined;
}

const UPDATES = unnestRows({
  receiver_id: "text",
  ctid: "tid",
  ended: "int",
  max_in_flight: "int",
  failed_in_a_row: "int",
  trips: "int",
  failures: "int",
  last_status: "int null",
  first_failure_at: "float8 null",
  failing_since: "float8 null",
  open_seconds: "float8 null",
  due_in_seconds: "float8 null",
  was_opened: "boolean",
  has_opened: "boolean",
  last_outcome: "text null",
  pause_noted: "boolean",
});

const UPDATE_LANES = {
  name: "locked_lanes.update",
  text: `
  update webhook.lanes l
     set in_flight = greatest(0, l.in_flight - t.ended), max_in_flight = t.max_in_flight, failed_in_a_row = t.failed_in_a_row,
         pause_noted = t.pause_noted, trips = t.trips, failures = t.failures, last_status = t.last_status, last_outcome = t.last_outcome,
         last_delivery_at = now(),
         opened_at = case when t.has_opened then clock_timestamp() when t.was_opened then l.opened_at end,
         first_failure_at = to_timestamp(t.first_failure_at / 1000), failing_since = to_timestamp(t.failing_since / 1000),
         open_until = case when t.open_seconds is null then case when t.failed_in_a_row = 0 then '-infinity' else l.open_until end
                           else now() + make_interval(secs => t.open_seconds) end,
         ${dueBy("now() + make_interval(secs => t.due_in_seconds)")}
    from ${UPDATES.relation}
   where ${IS_LOCKED}
  returning l.receiver_id`,
} satisfies Statement;

/** Writes the state of lanes after attempts ended. The lanes must be locked, and unchanged since. */
export async function updateLanes(sql: Sql, updates: readonly LaneUpdate[]): Promise<void> {
  const rows = updates.map(({ receiverId, ctid, lane, ended, openSeconds, hasOpened, dueInSeconds }) => ({
    receiver_id: receiverId,
    ctid,
    ended,
    max_in_flight: lane.maxInFlight,
    failed_in_a_row: lane.failedInARow,
    trips: lane.trips,
    failures: lane.failures,
    last_status: lane.lastStatus,
    first_failure_at: lane.firstFailureAt,
    failing_since: lane.failingSince,
    open_seconds: openSeconds ?? null,
    due_in_seconds: dueInSeconds ?? null,
    was_opened: lane.openedAt !== null,
    has_opened: hasOpened,
    last_outcome: lane.lastOutcome,
    pause_noted: lane.pauseNoted,
  }));
  requireAll(rows, await sql.query<LaneId>(UPDATE_LANES, UPDATES.values(rows)));
}

/**
 * Returns SQL that subtracts deliveries from their lanes' `in_flight`, to use in a statement that also changes these deliveries. The
 * lanes must be locked.
 *
 * @param from a relation with one row for each delivery, which has its `receiver_id`
 * @param due SQL over `from`: when the first of a lane's is due again; undefined if they are gone
 */
export const leaveLanesOf = (from: string, due?: string): string => `
  update webhook.lanes l set in_flight = greatest(0, l.in_flight - t.n)${due === undefined ? "" : `, ${dueBy("t.due")}`}
    from (select receiver_id, count(*)::int as n${due === undefined ? "" : `, ${due} as due`} from ${from} group by receiver_id) t
   where l.receiver_id = t.receiver_id`;

const LEFT = unnestRows({ receiver_id: "text" });
const LEAVE_LANES = leaveLanesOf(LEFT.relation, "now()");

/** Subtracts one from a lane's `in_flight` for each occurrence of its receiver, and makes the lane due. The lanes must be locked. */
export const leaveLanes = (sql: Sql, receiverIds: readonly string[]): Promise<unknown> =>
  sql.query(LEAVE_LANES, LEFT.values(receiverIds.map((receiver_id) => ({ receiver_id }))));

const ADDITIONS = unnestRows({ receiver_id: "text", ctid: "tid", leased: "int", waiting: "int" });
const ADD_TO_LANES = {
  name: "locked_lanes.add",
  text: `update webhook.lanes l set in_flight = l.in_flight + t.leased, ${dueBy("case when t.waiting > 0 then now() end")}
    from ${ADDITIONS.relation}
   where ${IS_LOCKED}
  returning l.receiver_id`,
} satisfies Statement;

export interface LaneAddition extends LaneRow {
  /** Those whose attempt begins at once. */
  readonly leased: number;
  /** Those that wait for a claim, due now. */
  readonly waiting: number;
}

/** Counts added deliveries in their lanes, and notifies the senders if one waits. The lanes must be locked, and unchanged since. */
export async function addToLanes(sql: Sql, additions: readonly LaneAddition[]): Promise<void> {
  requireAll(additions, await sql.query<LaneId>(ADD_TO_LANES, ADDITIONS.values(additions)));
  if (additions.some(({ waiting }) => waiting > 0)) await notifySenders(sql);
}
