-- works-with-schema: 11
-- The delivery that was sent again: its repeat names it. Null in every other delivery, and where a process of release 0.3.0 finished the repeat.
alter table webhook.deliveries add column repeat_of text collate "C";
alter table webhook.past_deliveries add column repeat_of text collate "C";
