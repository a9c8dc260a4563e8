import type { OutcomeKind } from "../domain/outcome.ts";

/** Columns of `webhook.deliveries d`, and the same of `webhook.past_deliveries d`. */
export const UNFINISHED = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.event_type, d.state, d.attempt as attempts, d.test, d.created_at,
  d.due_at, null::timestamptz as finished_at, d.lease_until, d.sign_with_next, d.repeat_of, d.replay_id,
  null as attempt_id, null::timestamptz as started_at, null as outcome, null::int as http_status, null::int as duration_ms`;
export const FINISHED = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.event_type, d.state, d.attempts, d.test, d.created_at,
  null::timestamptz as due_at, d.finished_at, null::timestamptz as lease_until, d.sign_with_next, d.repeat_of, d.replay_id,
  d.attempt_id, d.started_at, d.outcome, d.http_status, d.duration_ms`;

const LEASE_ENDED: OutcomeKind = "unknown";

/**
 * SQL of the last attempt of a delivery `o`, if it is in webhook.attempts: the delivery is unfinished, or a result came after the lease of
 * its last attempt had ended. Every other delivery has its last attempt: nothing is looked up, as the first condition is on the delivery
 * alone.
 */
export const LAST_ATTEMPT_APART = `
  select a.outcome, a.http_status, a.duration_ms from webhook.attempts a
   where (o.outcome is null or o.outcome = '${LEASE_ENDED}')
     and (o.outcome is null or (a.attempt, a.started_at, a.id) > (o.attempts, o.started_at, o.attempt_id))
     and a.delivery_id = o.id and a.event_created_at = o.event_created_at
   order by a.attempt desc, a.started_at desc, a.id desc limit 1`;

/**
 * Deliveries as members see them: pending ones are shown as held if their lane is held. Events and last attempts are looked up one by one:
 * a join read every event.
 */
export const shown = (deliveries: string): string => `
  select o.id, o.receiver_id, o.event_id, o.event_type, e.record_id,
         case when o.state = 'pending' and l.held then 'held' else o.state end as state, o.attempts, o.test, o.created_at,
         case when o.state = 'pending' and l.held is not true then o.due_at end as due_at, o.finished_at,
         o.sign_with_next, o.repeat_of, o.replay_id, o.lease_until, coalesce(a.outcome, o.outcome) as last_outcome,
         case when a.outcome is null then o.http_status else a.http_status end as last_http_status,
         case when a.outcome is null then o.duration_ms else a.duration_ms end as last_duration_ms
    from (${deliveries}) o
    left join lateral (select held from webhook.lanes where receiver_id = o.receiver_id limit 1) l on true
    left join lateral (select e.data ->> 'id' as record_id from webhook.events e
                        where e.id = o.event_id and e.created_at = o.event_created_at limit 1) e on true
    left join lateral (${LAST_ATTEMPT_APART}) a on true`;

/**
 * A condition that pending deliveries meet, on columns of `webhook.deliveries`. Queries that need an index of lists add it to
 * `state = 'pending'`. Claims must not: the planner would use these indexes for them, too. Misled by dead rows, it read one
 * whole for each lane, 3.2 million buffers and 2.2 s with 16 lanes locked.
 */
export const UNLEASED = "lease is null";
