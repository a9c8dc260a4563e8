-- Sends every event of a receiver since a time once more. A worker continues where the last one stopped.
create table webhook.replays (
  id text collate "C" primary key check (id ~ '^rpl_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  receiver_id text collate "C" not null references webhook.receivers (id) on delete cascade,
  -- Replays events created after `since`, up to the start of the replay.
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  -- Position: the last event that was read.
  at_created_at timestamptz(3),
  at_id text collate "C",
  queued bigint not null default 0,
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create index replays_of_receiver on webhook.replays (receiver_id, created_at desc);
create index replays_unfinished on webhook.replays (id) where finished_at is null;
create unique index replays_one_at_a_time on webhook.replays (receiver_id) where finished_at is null;
