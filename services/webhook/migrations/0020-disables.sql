-- works-with-schema: 11
-- How often the receiver was disabled, repeats included: enabling, which may take minutes, ends only what was so when it began. A process of release
-- 0.3.0 does not count.
alter table webhook.receivers add column disables bigint not null default 0;
