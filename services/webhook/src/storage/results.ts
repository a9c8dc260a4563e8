import type { Sql } from "@brand-records/postgres";
import { bucketOf, NO_DURATION } from "../domain/duration-bucket.ts";
import { hasDuration, type OutcomeClass } from "../domain/outcome.ts";
import { addToHours } from "./attempt-hours.ts";

/** The result of an attempt, and the next state of its delivery. */
export interface AttemptResult {
  readonly delivery_id: string;
  readonly lease: string;
  readonly brand_id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
  readonly delivery_created_at: string;
  /** Where it was sent. The receiver may have another URL by now. */
  readonly url: string;
  readonly test: boolean;
  /** The next secret, as it is stored, if it alone signed the request. */
  readonly tested_secret: Buffer | null;
  readonly attempt_id: string;
  readonly attempt: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly outcome: OutcomeClass;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly response: Buffer | null;
  readonly state: "delivered" | "failed" | "pending";
  /** For a pending delivery: until it is due again. */
  readonly delay_seconds: number | null;
}

/** The part of a result that is stored. */
export type SettledAttempt = Omit<AttemptResult, "url" | "tested_secret">;

/** "= any($1)" beside the join: the ids lead into the primary key whatever the planner estimates for the rest. */
const SETTLE = `
  with result as materialized (
    select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::boolean[],
                         $9::text[], $10::int[], $11::timestamptz[], $12::int[], $13::text[], $14::int[], $15::text[], $16::bytea[],
                         $17::text[], $18::float8[], $19::smallint[])
      as t(delivery_id, lease, brand_id, receiver_id, event_id, event_created_at, delivery_created_at, test,
           attempt_id, attempt, started_at, duration_ms, outcome, http_status, error, response, state, delay_seconds, bucket)),
  finished as (
    delete from webhook.deliveries d using result r
     where d.id = any($1::text[]) and d.id = r.delivery_id and d.lease = r.lease and r.state <> 'pending'
    returning d.sign_with_next, d.event_type, r.attempt_id),
  retried as (
    update webhook.deliveries d set state = 'pending', lease = null, lease_until = null, due_at = now() + make_interval(secs => r.delay_seconds)
      from result r
     where d.id = any($1::text[]) and d.id = r.delivery_id and d.lease = r.lease and r.state = 'pending'
    returning r.attempt_id),
  past as (
    insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, sign_with_next,
                                         created_at)
    select r.delivery_id, r.brand_id, r.receiver_id, r.event_id, r.event_created_at, f.event_type, r.state, r.attempt, r.test, f.sign_with_next,
           r.delivery_created_at
      from result r join finished f on f.attempt_id = r.attempt_id),
  recorded as (
    insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status, error, response)
    select attempt_id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status, error, response from result
    -- Already written if the response to an earlier commit was lost.
    on conflict (id, event_created_at) do nothing
    returning id),
  counted as (${addToHours("result r join recorded a on a.id = r.attempt_id where not r.test")})
  select attempt_id from finished union all select attempt_id from retried`;

/**
 * Records attempts, and finishes their deliveries or makes them due again. If a lease has ended, another worker owns the
 * delivery: its attempt is recorded and nothing else changes. Attempts are counted by hour in the same statement. The lanes must be
 * locked.
 *
 * @returns the ids of the attempts whose lease was still valid: a batch may also hold an attempt of the same delivery whose lease ended
 */
export async function settleDeliveries(sql: Sql, results: readonly SettledAttempt[]): Promise<Set<string>> {
  const column = <Name extends keyof SettledAttempt>(name: Name): SettledAttempt[Name][] => results.map((result) => result[name]);
  const rows = await sql.query<{ attempt_id: string }>(SETTLE, [
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
    results.map(({ outcome, duration_ms }) => (hasDuration(outcome) ? bucketOf(duration_ms) : NO_DURATION)),
  ]);
  return new Set(rows.map(({ attempt_id }) => attempt_id));
}
