import { unnestRows, type BatchRow, type Sql, type Statement } from "@brand-records/postgres";
import { bucketOf, NO_DURATION } from "../domain/duration-bucket.ts";
import { hasDuration, type OutcomeKind } from "../domain/outcome.ts";
import { addToHours } from "./attempt-hours.ts";

const RESULTS = unnestRows({
  delivery_id: "text",
  lease: "uuid",
  brand_id: "text",
  receiver_id: "text",
  event_id: "text",
  event_created_at: "timestamptz",
  delivery_created_at: "timestamptz",
  test: "boolean",
  attempt_id: "text",
  attempt: "int",
  started_at: "timestamptz",
  duration_ms: "int",
  outcome: "text",
  http_status: "int null",
  error: "text null",
  response: "bytea null",
  state: "text",
  delay_seconds: "float8 null",
  bucket: "smallint",
});

export type SettledAttempt = Omit<BatchRow<typeof RESULTS>, "outcome" | "state" | "bucket"> & {
  readonly outcome: OutcomeKind;
  readonly state: "delivered" | "failed" | "pending";
};

export interface AttemptResult extends SettledAttempt {
  /** Where it was sent. The receiver may have another URL by now. */
  readonly url: string;
  /** The next secret, as it is stored, if it alone signed the request. */
  readonly tested_secret: Buffer | null;
}

/** An attempt's columns, where it is stored alone and where with its delivery; and the same of a `result r`. */
const ATTEMPT = "started_at, duration_ms, outcome, http_status, error, response";
const OF_RESULT = "r.started_at, r.duration_ms, r.outcome, r.http_status, r.error, r.response";

const insertAttempts = (results: string): string => `
    insert into webhook.attempts (id, delivery_id, event_created_at, attempt, ${ATTEMPT})
    select r.attempt_id, r.delivery_id, r.event_created_at, r.attempt, ${OF_RESULT} from ${results}`;

/** What is written of a result comes with its delivery, so that no join is needed but that of results and deliveries. */
const SETTLE = {
  name: "results.settle",
  text: `
  with result as materialized (
    select * from ${RESULTS.relation}),
  finished as (
    delete from webhook.deliveries d using result r
     where d.id = r.delivery_id and d.lease = r.lease and r.state <> 'pending'
    returning r.*, d.sign_with_next, d.event_type, d.repeat_of, d.replay_id),
  retried as (
    update webhook.deliveries d set state = 'pending', lease = null, lease_until = null, due_at = now() + make_interval(secs => r.delay_seconds)
      from result r
     where d.id = r.delivery_id and d.lease = r.lease and r.state = 'pending'
    returning r.*),
  past as (
    insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, sign_with_next, repeat_of, replay_id,
                                         created_at, attempt_id, ${ATTEMPT})
    select r.delivery_id, r.brand_id, r.receiver_id, r.event_id, r.event_created_at, r.event_type, r.state, r.attempt, r.test, r.sign_with_next, r.repeat_of, r.replay_id,
           r.delivery_created_at, r.attempt_id, ${OF_RESULT}
      from finished r),
  recorded as (${insertAttempts("retried r")}),
  settled as (
    select attempt_id, receiver_id, started_at, bucket, outcome, test from finished
    union all
    select attempt_id, receiver_id, started_at, bucket, outcome, test from retried),
  counted as (${addToHours("settled r where not r.test")})
  select attempt_id from settled`,
} satisfies Statement;

/**
 * For results without a valid lease. A result that was written before is already an attempt, if the response to an earlier commit was
 * lost: in its delivery if it finished it, else in webhook.attempts.
 */
const RECORD_LATE = `
  with result as materialized (
    select * from ${RESULTS.relation}),
  recorded as (${insertAttempts(`result r
     where not exists (select from webhook.past_deliveries p
                        where p.id = any(${RESULTS.arrays.delivery_id}) and p.event_created_at = any(${RESULTS.arrays.event_created_at})
                          and p.id = r.delivery_id and p.attempt_id = r.attempt_id)`)}
    on conflict (id, event_created_at) do nothing
    returning id)
  ${addToHours("result r join recorded a on a.id = r.attempt_id where not r.test")}`;

/**
 * Records attempts, and finishes their deliveries or makes them due again. The attempt that finishes a delivery is stored with it. If a
 * lease has ended, another worker owns the delivery: its attempt is recorded and nothing else changes. Attempts are counted by hour in
 * the statement that records them. A result may be written twice. The lanes must be locked.
 *
 * Late results follow in a statement of their own: only a snapshot taken after the first statement shows what an earlier write of the same
 * result has committed, if that write held the delivery until then. So two batches that both have late results of deleted receivers, which
 * have no lanes, can meet in a deadlock over hours: Postgres ends one of them, and its caller writes it again.
 *
 * @returns the ids of the attempts whose lease was still valid: a batch may also hold an attempt of the same delivery whose lease ended
 */
export async function settleDeliveries(sql: Sql, results: readonly SettledAttempt[]): Promise<Set<string>> {
  const counted = results.map((result) => ({
    ...result,
    bucket: hasDuration(result.outcome) ? bucketOf(result.duration_ms) : NO_DURATION,
  }));
  const rows = await sql.query<{ attempt_id: string }>(SETTLE, RESULTS.values(counted));
  const settled = new Set(rows.map(({ attempt_id }) => attempt_id));
  const late = counted.filter(({ attempt_id }) => !settled.has(attempt_id));
  if (late.length > 0) await sql.query(RECORD_LATE, RESULTS.values(late));
  return settled;
}
