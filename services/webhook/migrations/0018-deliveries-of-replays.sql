-- works-with-schema: 11
-- The replay that queued a delivery. Null in every other delivery, and where a process of release 0.3.0 queued or finished it.
alter table webhook.deliveries add column replay_id text collate "C";
alter table webhook.past_deliveries add column replay_id text collate "C";
