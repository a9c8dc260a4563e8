-- Sends every event of a receiver since a time once more, or those that failed. A worker continues where the last one stopped.
create table webhook.replays (
  id text collate "C" primary key check (id ~ '^rpl_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  receiver_id text collate "C" not null references webhook.receivers (id) on delete cascade,
  -- Replays events created after `since`, up to `until`: the requested end, or the start of the replay if that is earlier.
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  -- The end as it was requested: a repeat of the request is known by it.
  requested_until timestamptz(3),
  failed_only boolean not null default false,
  started_at timestamptz(3) not null,
  -- Position: the last event that was read.
  at_created_at timestamptz(3),
  at_id text collate "C",
  queued bigint not null default 0,
  -- Failed events at the start: counting them takes 100 us each, too long for every look at the progress.
  counted bigint,
  finished_at timestamptz(3),
  cancelled_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create index replays_of_receiver on webhook.replays (receiver_id, created_at desc);
create index replays_unfinished on webhook.replays (id) where finished_at is null;
create unique index replays_one_at_a_time on webhook.replays (receiver_id) where finished_at is null;
