-- Outcome of a receiver's last attempt, and when it was written. A process of release 0.2.0 writes last_delivery_at but not
-- these: where the two times differ, the outcome is an older attempt's.
alter table webhook.lanes add column last_outcome text, add column last_outcome_at timestamptz(3);
