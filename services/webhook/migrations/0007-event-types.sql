-- The event's type beside each delivery, so that lists of one type read an index. Null where a process of release 0.2.0 added the
-- delivery: it is then looked up.
alter table webhook.deliveries add column event_type text;
alter table webhook.past_deliveries add column event_type text;
