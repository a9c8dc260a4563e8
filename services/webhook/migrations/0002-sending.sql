-- Sending: lanes that know how their receiver does, deliveries that are over, attempts, replays.

alter table webhook.receivers
  -- 1 sends first attempts one after the other: in order, for each record.
  add column max_in_flight integer not null default 64 check (max_in_flight between 1 and 64),
  -- The secret of a rotation under way: deliveries are signed with both until it is activated.
  add column next_secret bytea,
  add column next_secret_key_id integer,
  add check ((next_secret is null) = (next_secret_key_id is null));

alter table webhook.lanes
  -- Failed attempts since the last success, up to what the breaker needs to know.
  add column failed_in_a_row integer not null default 0,
  -- Times it was parked since the last success: each parking is twice as long as the one before.
  add column parkings integer not null default 0,
  -- See services/webhook/src/domain/failure-clock.ts.
  add column first_failure_at timestamptz(3),
  add column failing_since timestamptz(3);

-- Of thousands of lanes few have anything to send: the others are not even looked at.
drop index webhook.lanes_to_serve;
create index lanes_to_serve on webhook.lanes (last_served) where next_due < 'infinity' and not held;

alter table webhook.events add column test boolean not null default false;
alter table webhook.deliveries add column test boolean not null default false;

-- Deliveries that are over, in partitions by the day of their event, as everything that is kept for a while.
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

create index past_deliveries_newest on webhook.past_deliveries (receiver_id, id desc);
create index past_deliveries_of_event on webhook.past_deliveries (event_id);

create table webhook.attempts (
  id text collate "C" not null,
  delivery_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  attempt integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  -- accepted, refused (another status than 2xx), or what kept an answer from coming.
  outcome text not null,
  http_status integer,
  -- For people; without path or query of the URL.
  error text,
  -- At most 16 KiB of what came.
  response bytea,
  primary key (id, event_created_at)
) partition by range (event_created_at);

create index attempts_of_delivery on webhook.attempts (delivery_id, attempt);

create or replace function webhook.ensure_day(day date) returns void language plpgsql as $$
declare
  parent text;
  partition text;
begin
  if to_regclass('webhook.attempts_' || to_char(day, 'YYYYMMDD')) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('webhook.ensure_day'));
  foreach parent in array array['events', 'past_deliveries', 'attempts'] loop
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    execute format(
      'create table if not exists webhook.%I partition of webhook.%I for values from (%L) to (%L)',
      partition, parent, (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
  end loop;
end $$;

-- The days there are already get the partitions that are new.
select webhook.ensure_day(to_date(right(c.relname, 8), 'YYYYMMDD'))
  from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'webhook.events'::regclass;

-- All events of a receiver since a time, sent once more. A worker goes on where the last one stopped.
create table webhook.replays (
  id text collate "C" primary key check (id ~ '^rpl_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  receiver_id text collate "C" not null references webhook.receivers (id) on delete cascade,
  -- Events created after `since`, up to when the replay was asked for.
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  -- The last event that was queued.
  at_created_at timestamptz(3),
  at_id text collate "C",
  queued bigint not null default 0,
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create index replays_of_receiver on webhook.replays (receiver_id, created_at desc);
create index replays_under_way on webhook.replays (id) where finished_at is null;
