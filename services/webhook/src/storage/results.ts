import type { Sql } from "@brand-records/postgres";
import type { LaneState } from "../domain/lane.ts";
import type { OutcomeClass } from "../domain/outcome.ts";

/** What came of an attempt, and what becomes of its delivery. */
export interface AttemptResult {
  readonly delivery_id: string;
  readonly lease: string;
  readonly brand_id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
  readonly delivery_created_at: string;
  /** Where it was sent: the receiver may have another by now. */
  readonly url: string;
  readonly test: boolean;
  readonly attempt_id: string;
  readonly attempt: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly outcome: OutcomeClass;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly response: Buffer | null;
  readonly state: "delivered" | "failed" | "pending";
  /** Of a pending one: when it is due again. */
  readonly delay_seconds: number | null;
}

/** What is written of an attempt. */
export type SettledAttempt = Omit<AttemptResult, "url">;

export interface LockedLane extends LaneState {
  readonly receiverId: string;
  readonly url: string;
  readonly limit: number;
}

const LOCK_LANES = "select from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id for update";

/** Under a snapshot taken after the lanes were locked: who changes what a receiver has set does it before us or after us. */
const READ_LANES = `
  select l.receiver_id as "receiverId", r.url, r.max_in_flight as "limit", l.max_in_flight as "maxInFlight", l.failed_in_a_row as "failedInARow",
         l.parkings, l.failures, l.last_status as "lastStatus",
         extract(epoch from l.parked_at)::float8 * 1000 as "parkedAt",
         extract(epoch from l.first_failure_at)::float8 * 1000 as "firstFailureAt",
         extract(epoch from l.failing_since)::float8 * 1000 as "failingSince"
    from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id
   where l.receiver_id = any($1::text[])`;

/** In the order in which all lanes are locked. Those of receivers that are gone are not among them. */
export async function lockLanes(sql: Sql, receiverIds: readonly string[]): Promise<LockedLane[]> {
  await sql.query(LOCK_LANES, [receiverIds]);
  return sql.query<LockedLane>(READ_LANES, [receiverIds]);
}

/** "= any($1)" beside the join: the ids lead into the primary key whatever the planner thinks of the rest. */
const SETTLE = `
  with result as materialized (
    select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::boolean[],
                         $9::text[], $10::int[], $11::timestamptz[], $12::int[], $13::text[], $14::int[], $15::text[], $16::bytea[],
                         $17::text[], $18::float8[])
      as t(delivery_id, lease, brand_id, receiver_id, event_id, event_created_at, delivery_created_at, test,
           attempt_id, attempt, started_at, duration_ms, outcome, http_status, error, response, state, delay_seconds)),
  over as (
    delete from webhook.deliveries d using result r
     where d.id = any($1::text[]) and d.id = r.delivery_id and d.lease = r.lease and r.state <> 'pending'
    returning d.id),
  again as (
    update webhook.deliveries d set state = 'pending', lease = null, lease_until = null, due_at = now() + make_interval(secs => r.delay_seconds)
      from result r
     where d.id = any($1::text[]) and d.id = r.delivery_id and d.lease = r.lease and r.state = 'pending'
    returning d.id),
  past as (
    insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, state, attempts, test, created_at)
    select delivery_id, brand_id, receiver_id, event_id, event_created_at, state, attempt, test, delivery_created_at
      from result where delivery_id in (select id from over)),
  noted as (
    insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status, error, response)
    select attempt_id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status, error, response from result
    -- Written already, by a commit whose answer was lost.
    on conflict (id, event_created_at) do nothing)
  select id from over union all select id from again`;

/**
 * Notes attempts, ends deliveries or makes them due again. One whose lease has ended meanwhile is somebody else's: its
 * attempt is noted, and nothing more.
 *
 * @returns the ids of those that were still ours
 */
export async function settleDeliveries(sql: Sql, results: readonly SettledAttempt[]): Promise<Set<string>> {
  const column = <Name extends keyof SettledAttempt>(name: Name): SettledAttempt[Name][] => results.map((result) => result[name]);
  const rows = await sql.query<{ id: string }>(SETTLE, [
    column("delivery_id"),
    column("lease"),
    column("brand_id"),
    column("receiver_id"),
    column("event_id"),
    column("event_created_at"),
    column("delivery_created_at"),
    column("test"),
    column("attempt_id"),
    column("attempt"),
    column("started_at"),
    column("duration_ms"),
    column("outcome"),
    column("http_status"),
    column("error"),
    column("response"),
    column("state"),
    column("delay_seconds"),
  ]);
  return new Set(rows.map(({ id }) => id));
}

export interface LaneUpdate {
  readonly receiverId: string;
  readonly lane: LaneState;
  /** Attempts that are over. */
  readonly ended: number;
  /** Nothing is sent for so long; undefined leaves it as it is. */
  readonly parkSeconds: number | undefined;
  /** The soonest of what is due again. */
  readonly dueInSeconds: number | undefined;
}

const UPDATE_LANES = `
  update webhook.lanes l
     set in_flight = greatest(0, l.in_flight - t.ended), max_in_flight = t.max_in_flight, failed_in_a_row = t.failed_in_a_row,
         parkings = t.parkings, failures = t.failures, last_status = t.last_status, last_delivery_at = now(),
         parked_at = to_timestamp(t.parked_at / 1000),
         first_failure_at = to_timestamp(t.first_failure_at / 1000), failing_since = to_timestamp(t.failing_since / 1000),
         parked_until = case when t.park_seconds is null then case when t.failed_in_a_row = 0 then '-infinity' else l.parked_until end
                             else now() + make_interval(secs => t.park_seconds) end,
         next_due = least(l.next_due, now() + make_interval(secs => t.due_in_seconds))
    from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::float8[])
      as t(receiver_id, ended, max_in_flight, failed_in_a_row, parkings, failures, last_status, first_failure_at, failing_since,
           park_seconds, due_in_seconds, parked_at)
   where l.receiver_id = t.receiver_id`;

/** The lanes must be locked. */
export async function updateLanes(sql: Sql, updates: readonly LaneUpdate[]): Promise<void> {
  await sql.query(UPDATE_LANES, [
    updates.map(({ receiverId }) => receiverId),
    updates.map(({ ended }) => ended),
    updates.map(({ lane }) => lane.maxInFlight),
    updates.map(({ lane }) => lane.failedInARow),
    updates.map(({ lane }) => lane.parkings),
    updates.map(({ lane }) => lane.failures),
    updates.map(({ lane }) => lane.lastStatus),
    updates.map(({ lane }) => lane.firstFailureAt),
    updates.map(({ lane }) => lane.failingSince),
    updates.map(({ parkSeconds }) => parkSeconds ?? null),
    updates.map(({ dueInSeconds }) => dueInSeconds ?? null),
    updates.map(({ lane }) => lane.parkedAt),
  ]);
}

const DISABLE = `
  with disabled as (
    update webhook.receivers r set enabled = false, disabled_reason = $2, disabled_at = now(), updated_at = now()
     where r.id = $1 and r.enabled returning r.id)
  update webhook.lanes l set held = true from disabled d where l.receiver_id = d.id returning l.receiver_id`;

/** Answers false if it was disabled already. Its lane must be locked. */
export async function disableByItself(sql: Sql, receiverId: string, reason: "gone" | "failing"): Promise<boolean> {
  return (await sql.query(DISABLE, [receiverId, reason])).length > 0;
}
