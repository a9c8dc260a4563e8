-- works-with-schema: 11
-- The attempt that finished a delivery is stored with it; webhook.attempts has the others. docs/decisions/0022-deliveries-with-last-attempt.md
-- Null where a process of release 0.3.0 finished the delivery: its last attempt is in webhook.attempts. Its number is `attempts`.
alter table webhook.past_deliveries
  add column attempt_id text collate "C",
  add column started_at timestamptz(3),
  add column duration_ms integer,
  add column outcome text,
  add column http_status integer,
  add column error text,
  add column response bytea;
