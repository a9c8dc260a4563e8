-- For lists and replays with filters. On the parent tables only, which takes no time: new days get these indexes with their
-- partitions. services/webhook/src/storage/late-indexes.ts builds those of the present days, while the tables are written.
create index events_of_type on only webhook.events (brand_id, type, created_at desc, id desc);
create index events_of_record on only webhook.events (brand_id, (data ->> 'id'), created_at desc, id desc);
create index past_deliveries_of_type on only webhook.past_deliveries (receiver_id, event_type, state, id desc);
-- In the order in which a replay of failed ones reads them. Accepted deliveries do not enter it.
create index past_deliveries_failed on only webhook.past_deliveries (receiver_id, event_created_at, event_id) where state = 'failed';
