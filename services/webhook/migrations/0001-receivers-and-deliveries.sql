-- Brands that accounts has vouched for: brands never vanish, so each is asked about once. Whoever adds a receiver holds
-- its brand's row, so the receivers of a brand are counted exactly.
create table webhook.brands (
  brand_id text collate "C" primary key check (brand_id ~ '^brd_[0-9a-z]{1,40}$')
);

-- What each encryption key makes of a known text, so that a wrong key is noticed at the start, not at the first delivery.
create table webhook.secret_keys (
  id integer primary key,
  proof bytea not null
);

create table webhook.receivers (
  brand_id text collate "C" not null references webhook.brands,
  id text collate "C" not null unique check (id ~ '^rcv_[0-9a-z]{1,40}$'),
  -- As it will be called. It may carry a token: it is in no log and no error.
  url text not null,
  label text not null,
  events text[] not null check (cardinality(events) between 1 and 4),
  -- AES-256-GCM under the key of that id: nonce (12 bytes), ciphertext, tag (16 bytes).
  secret bytea not null,
  secret_key_id integer not null,
  -- The secret of a rotation under way: deliveries are signed with both until it is activated.
  next_secret bytea,
  next_secret_key_id integer,
  -- Attempts under way at once. 1 sends first attempts one after the other: in order, for each record.
  max_in_flight integer not null default 64 check (max_in_flight between 1 and 64),
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('member', 'gone', 'failing')),
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (enabled = (disabled_reason is null) and enabled = (disabled_at is null)),
  check ((next_secret is null) = (next_secret_key_id is null)),
  primary key (brand_id, id),
  unique (brand_id, url)
);

-- One for each receiver. Whoever adds deliveries locks the lanes first, in the order of receiver_id: a claim that empties
-- a lane meanwhile would overlook them.
create table webhook.lanes (
  receiver_id text collate "C" primary key references webhook.receivers (id) on delete cascade,
  -- The receiver is disabled: nothing is sent, everything is kept.
  held boolean not null default false,
  -- No delivery is due before; infinity if there is none.
  next_due timestamptz not null default 'infinity',
  in_flight integer not null default 0 check (in_flight >= 0),
  max_in_flight integer not null default 8 check (max_in_flight between 1 and 64),
  parked_until timestamptz not null default '-infinity',
  -- When it was parked last: attempts that began before are no trial of their own.
  parked_at timestamptz(3),
  -- Failed attempts since the last success, tests excluded; for the breaker, which forgets them when the receiver is enabled.
  failed_in_a_row integer not null default 0,
  -- Times it was parked since the last success: each parking is twice as long as the one before.
  parkings integer not null default 0,
  -- See services/webhook/src/domain/failure-clock.ts.
  first_failure_at timestamptz(3),
  failing_since timestamptz(3),
  last_served timestamptz not null default '-infinity',
  -- Of the last attempt: its HTTP status, 0 if there was no answer. Here rather than with the receiver: written with every result.
  last_status integer,
  last_delivery_at timestamptz(3),
  -- Failed attempts since the last success, tests excluded.
  failures integer not null default 0
) with (fillfactor = 70);

-- Of thousands of lanes few have anything to send: the others are not even looked at.
create index lanes_to_serve on webhook.lanes (last_served) where next_due < 'infinity' and not held;

-- What happened, once each, however often the log tells it. A partition per day (UTC) of created_at, which is dropped whole.
create table webhook.events (
  id text collate "C" not null check (id ~ '^evt_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  brand_id text collate "C" not null,
  type text not null,
  -- As receivers get it, byte for byte.
  data json not null,
  -- W3C trace context of the change.
  traceparent text,
  -- Made by somebody who tries a receiver out.
  test boolean not null default false,
  received_at timestamptz(3) not null default now(),
  primary key (id, created_at)
) partition by range (created_at);

create index events_newest on webhook.events (brand_id, created_at desc, id desc);

-- What is still to be sent, nothing else: small, however much was ever sent. Without foreign keys: an insert would lock a
-- row of receivers for every delivery. Those of a receiver that was deleted have no lane, so nobody claims them.
create table webhook.deliveries (
  id text collate "C" primary key check (id ~ '^dlv_[0-9a-z]{1,40}$'),
  receiver_id text collate "C" not null,
  event_id text collate "C" not null,
  event_created_at timestamptz(3) not null,
  state text not null default 'pending' check (state in ('pending', 'sending')),
  -- Attempts begun.
  attempt integer not null default 0,
  due_at timestamptz not null default now(),
  lease uuid,
  lease_until timestamptz,
  test boolean not null default false,
  created_at timestamptz(3) not null default now(),
  check ((state = 'sending') = (lease is not null) and (lease is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- In the order in which the events of a record came: due_at is the time of the transaction, ids rise within it.
create index deliveries_to_claim on webhook.deliveries (receiver_id, due_at, id) where state = 'pending';
-- For lists. Of pending ones only: with all states in the key a claim would write it too, and took twice as long.
create index deliveries_newest on webhook.deliveries (receiver_id, id desc) where state = 'pending';
create index deliveries_leased on webhook.deliveries (lease_until) where state = 'sending';

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

create index past_deliveries_newest on webhook.past_deliveries (receiver_id, state, id desc);
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
create unique index replays_one_at_a_time on webhook.replays (receiver_id) where finished_at is null;

-- Where messages of the direct log are set aside; Kafka has a topic for them.
create table webhook.dead_letters (
  id bigint generated always as identity primary key,
  position text not null,
  reason text not null,
  key text not null,
  value bytea not null,
  headers jsonb not null,
  dead_lettered_at timestamptz(3) not null default now()
);

-- Makes the day's partitions if they are not there. Safe to call from anywhere at once. Made apart and attached: a partition
-- made in place would wait for every reader of the table, and everybody else for it.
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
