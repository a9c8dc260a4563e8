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
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('member', 'gone', 'failing')),
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (enabled = (disabled_reason is null) and enabled = (disabled_at is null)),
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
  last_served timestamptz not null default '-infinity',
  -- Of the last attempt: its HTTP status, 0 if there was no answer. Here rather than with the receiver: written with every result.
  last_status integer,
  last_delivery_at timestamptz(3),
  -- Failed attempts since the last success, tests excluded.
  failures integer not null default 0
) with (fillfactor = 70);

create index lanes_to_serve on webhook.lanes (last_served) where not held;

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
  created_at timestamptz(3) not null default now(),
  check ((state = 'sending') = (lease is not null) and (lease is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- In the order in which the events of a record came: due_at is the time of the transaction, ids rise within it.
create index deliveries_to_claim on webhook.deliveries (receiver_id, due_at, id) where state = 'pending';
create index deliveries_leased on webhook.deliveries (lease_until) where state = 'sending';

-- Where messages of the direct log are set aside; Kafka has a topic for them.
create table webhook.dead_letters (
  id bigint generated always as identity primary key,
  position text not null,
  reason text not null,
  key text not null,
  value bytea not null,
  headers jsonb not null,
  set_aside_at timestamptz(3) not null default now()
);

-- Makes the day's partition if it is not there. Safe to call from anywhere at once.
create function webhook.ensure_day(day date) returns void language plpgsql as $$
declare
  partition text := 'events_' || to_char(day, 'YYYYMMDD');
begin
  if to_regclass('webhook.' || partition) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('webhook.ensure_day'));
  execute format(
    'create table if not exists webhook.%I partition of webhook.events for values from (%L) to (%L)',
    partition, (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
end $$;
