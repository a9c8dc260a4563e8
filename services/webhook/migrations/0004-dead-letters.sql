-- Dead letters of the direct log; with Kafka they are in a topic.
create table webhook.dead_letters (
  id bigint generated always as identity primary key,
  position text not null,
  reason text not null,
  key text not null,
  value bytea not null,
  headers jsonb not null,
  dead_lettered_at timestamptz(3) not null default now()
);
