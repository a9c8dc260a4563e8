-- works-with-schema: 5
-- Messages of assistants that call no tool, of those that are counted.

alter table accounts.usage_clients add column connecting bigint not null default 0 check (connecting >= 0);
