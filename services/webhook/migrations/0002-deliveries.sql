-- Each event once, however often the log delivers it. A partition for each day (UTC) of created_at, dropped as a whole.
create table webhook.events (
  id text collate "C" not null check (id ~ '^evt_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  brand_id text collate "C" not null,
  type text not null,
  -- Byte for byte as receivers get it.
  data json not null,
  -- W3C trace context of the change.
  traceparent text,
  -- Created to test a receiver.
  test boolean not null default false,
  received_at timestamptz(3) not null default now(),
  primary key (id, created_at)
) partition by range (created_at);

create index events_newest on webhook.events (brand_id, created_at desc, id desc);

-- Unfinished deliveries only, so the table stays small however many were ever sent. No foreign keys: an insert would lock a
-- row of receivers for every delivery. Deliveries of a deleted receiver have no lane, so no worker claims them.
create table webhook.deliveries (
  id text collate "C" primary key check (id ~ '^dlv_[0-9a-z]{1,40}$'),
  receiver_id text collate "C" not null,
  event_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  state text not null default 'pending' check (state in ('pending', 'sending')),
  -- Attempts started.
  attempt integer not null default 0,
  due_at timestamptz not null default now(),
  lease uuid,
  lease_until timestamptz,
  test boolean not null default false,
  created_at timestamptz(3) not null default now(),
  check ((state = 'sending') = (lease is not null) and (lease is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- In the order of a record's events: due_at is the transaction's time, and ids rise within it.
create index deliveries_to_claim on webhook.deliveries (receiver_id, due_at, id) where state = 'pending';
-- For lists. Pending deliveries only: with every state in the key, a claim would update this index too and took twice as long.
create index deliveries_newest on webhook.deliveries (receiver_id, id desc) where state = 'pending';
create index deliveries_leased on webhook.deliveries (lease_until) where state = 'sending';

-- Finished deliveries, partitioned by the day of their event.
create table webhook.past_deliveries (
  id text collate "C" not null,
  brand_id text collate "C" not null,
  receiver_id text collate "C" not null,
  event_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  state text not null check (state in ('delivered', 'failed')),
  attempts integer not null,
  test boolean not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3) not null default now(),
  primary key (id, event_created_at)
) partition by range (event_created_at);

create index past_deliveries_newest on webhook.past_deliveries (receiver_id, state, id desc);
create index past_deliveries_of_event on webhook.past_deliveries (event_id);

create table webhook.attempts (
  id text collate "C" not null,
  delivery_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  attempt integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  -- accepted, refused (a status other than 2xx), or the reason why there was no response.
  outcome text not null,
  http_status integer,
  -- For people. Without the path and query of the URL.
  error text,
  -- The first 16 KiB of the body.
  response bytea,
  primary key (id, event_created_at)
) partition by range (event_created_at);

create index attempts_of_delivery on webhook.attempts (delivery_id, attempt);

-- Creates a day's partitions unless they exist. Safe to call from any number of sessions at the same time. A partition is
-- created apart and then attached: created in place, it would wait for every reader of the table, and new readers for it.
create function webhook.ensure_day(day date) returns void language plpgsql as $$
declare
  parent text;
  partition text;
begin
  if to_regclass('webhook.attempts_' || to_char(day, 'YYYYMMDD')) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('webhook.ensure_day'));
  foreach parent in array array['events', 'past_deliveries', 'attempts'] loop
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    if to_regclass('webhook.' || partition) is null then
      execute format('create table webhook.%I (like webhook.%I including defaults including constraints)', partition, parent);
      execute format(
        'alter table webhook.%I attach partition webhook.%I for values from (%L) to (%L)',
        parent, partition, (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
    end if;
  end loop;
end $$;
