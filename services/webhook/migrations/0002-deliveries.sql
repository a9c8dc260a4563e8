-- Events, their deliveries to receivers, and the attempts. Events, finished deliveries and attempts have a partition for each day (UTC) of
-- the event, dropped as a whole.

-- Each event once, however often the log delivers it.
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

-- Unfinished deliveries only, so the table stays small however many were ever sent. No foreign keys: an insert would lock a
-- row of receivers for every delivery. Deliveries of a deleted receiver have no lane, so no worker claims them.
create table webhook.deliveries (
  id text collate "C" primary key check (id ~ '^dlv_[0-9a-z]{1,40}$'),
  receiver_id text collate "C" not null,
  event_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  -- The event's, so that lists of one type read an index.
  event_type text not null,
  state text not null default 'pending' check (state in ('pending', 'sending')),
  -- Attempts started.
  attempt integer not null default 0,
  -- The statement's time, not the transaction's: a transaction that waits for its lane adds deliveries after those that were added
  -- meanwhile, and they must not come before them, where a receiver takes one attempt at a time.
  due_at timestamptz not null default statement_timestamp(),
  lease uuid,
  lease_until timestamptz,
  test boolean not null default false,
  -- A test to be signed with the next secret alone.
  sign_with_next boolean not null default false,
  -- The delivery that this one sends again; null in every other.
  repeat_of text collate "C",
  -- The replay that queued it; null in every other.
  replay_id text collate "C",
  created_at timestamptz(3) not null default now(),
  check ((state = 'sending') = (lease is not null) and (lease is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Finished deliveries, each with the attempt that finished it. docs/decisions/0022-deliveries-with-last-attempt.md
create table webhook.past_deliveries (
  id text collate "C" not null,
  brand_id text collate "C" not null,
  receiver_id text collate "C" not null,
  event_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  event_type text not null,
  state text not null check (state in ('delivered', 'failed')),
  test boolean not null,
  sign_with_next boolean not null default false,
  repeat_of text collate "C",
  replay_id text collate "C",
  created_at timestamptz(3) not null,
  finished_at timestamptz(3) not null default now(),
  -- The number of the last attempt. Its other columns are those of webhook.attempts.
  attempts integer not null,
  attempt_id text collate "C" not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  outcome text not null,
  http_status integer,
  error text,
  response bytea,
  primary key (id, event_created_at)
) partition by range (event_created_at);

-- All other attempts.
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

-- Attempts by receiver and hour (UTC), tests excluded: the bars, and quantiles of the duration. Written in the statement that records
-- the attempts. Adding up a million attempts of one day takes seconds; these are a few dozen rows an hour.
create table webhook.attempt_hours (
  receiver_id text collate "C" not null,
  hour timestamptz(0) not null,
  -- Of the duration, see services/webhook/src/domain/duration-bucket.ts. -1 for an attempt without a duration.
  bucket smallint not null,
  accepted integer not null,
  failed integer not null,
  primary key (receiver_id, hour, bucket)
) with (fillfactor = 70);

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

create index events_newest on webhook.events (brand_id, created_at desc, id desc);
create index events_of_type on webhook.events (brand_id, type, created_at desc, id desc);
create index events_of_record on webhook.events (brand_id, (data ->> 'id'), created_at desc, id desc);

-- In the order of a record's events: due_at is the statement's time, and ids rise within it.
create index deliveries_to_claim on webhook.deliveries (receiver_id, due_at, id) where state = 'pending';
create index deliveries_leased on webhook.deliveries (lease_until) where state = 'sending';
-- For lists of pending deliveries: UNLEASED in services/webhook/src/storage/delivery-columns.ts says why not `state = 'pending'`. With every state
-- in the key, a claim would update these indexes too and took twice as long. Deliveries being sent are few and have none.
create index deliveries_unleased_newest on webhook.deliveries (receiver_id, id desc) where lease is null;
create index deliveries_unleased_of_event on webhook.deliveries (event_id) where lease is null;
create index deliveries_unleased_of_type on webhook.deliveries (receiver_id, event_type, id desc) where lease is null;

create index past_deliveries_newest on webhook.past_deliveries (receiver_id, state, id desc);
create index past_deliveries_of_event on webhook.past_deliveries (event_id);
create index past_deliveries_of_type on webhook.past_deliveries (receiver_id, event_type, state, id desc);
-- In the order in which a replay of failed ones reads them. Accepted deliveries do not enter it.
create index past_deliveries_failed on webhook.past_deliveries (receiver_id, event_created_at, event_id) where state = 'failed';

create index attempts_of_delivery on webhook.attempts (delivery_id, attempt);

-- Partitions are made and dropped with the rights of the schema's owner, so the service may use a login that owns nothing.

-- Creates a day's partitions unless they exist. Safe to call from any number of sessions at the same time. A partition is
-- created apart and then attached: created in place, it would wait for every reader of the table, and new readers for it.
create function webhook.ensure_day(day date) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
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

-- Drops a day's events, deliveries and attempts. Readers and writers of a table wait while a drop waits for an older reader, such as a dump: so one
-- process tries at a time, for a tenth of a second. A refusal is lock_not_available.
create function webhook.drop_day(day date) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  parent text;
begin
  if not pg_try_advisory_xact_lock(hashtext('brand-records webhook drop_day')) then
    raise exception using errcode = 'lock_not_available', message = 'another process drops a day';
  end if;
  foreach parent in array array['attempts', 'events', 'past_deliveries'] loop
    execute format('drop table if exists webhook.%I', parent || '_' || to_char(day, 'YYYYMMDD'));
  end loop;
end $$;

-- By default every role may execute a function.
revoke execute on function webhook.ensure_day(date), webhook.drop_day(date) from public;
