-- Workers of release 0.2.0 take every replay whose finished_at is null, and know none of these columns: they would replay what was
-- accepted too. So a replay of failed ones, or with a given end, has finished_at = 'infinity' until it is finished.
alter table webhook.replays
  add column failed_only boolean not null default false,
  -- The end as it was requested: a repeat of the request is known by it.
  add column requested_until timestamptz(3),
  -- The start. Null in replays by 0.2.0, which have no other end.
  add column started_at timestamptz(3),
  add column cancelled_at timestamptz(3),
  -- Failed events at the start: counting them takes 100 us each, too long for every look at the progress.
  add column counted bigint;

create unique index replays_one_of_failed_at_a_time on webhook.replays (receiver_id) where finished_at = 'infinity';
