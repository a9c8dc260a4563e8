-- Brands that accounts confirmed. Brands are never deleted, so accounts is called once for each. A transaction that adds a
-- receiver locks its brand's row, so the receivers of a brand are counted exactly.
create table webhook.brands (
  brand_id text collate "C" primary key check (brand_id ~ '^brd_[0-9a-z]{1,40}$')
);

-- A known text sealed under each encryption key, so that a wrong key is found at the start, not at the first delivery.
create table webhook.secret_keys (
  id integer primary key,
  proof bytea not null
);

create table webhook.receivers (
  brand_id text collate "C" not null references webhook.brands,
  id text collate "C" not null unique check (id ~ '^rcv_[0-9a-z]{1,40}$'),
  -- As it is called. It may contain a token, so no log and no error shows it.
  url text not null,
  label text not null,
  events text[] not null check (cardinality(events) >= 1),
  -- AES-256-GCM under the key with this id: nonce (12 bytes), ciphertext, tag (16 bytes).
  secret bytea not null,
  secret_key_id integer not null,
  -- During a rotation: deliveries are signed with both secrets until this one is activated.
  next_secret bytea,
  next_secret_key_id integer,
  -- Attempts that may be in flight. 1 sends first attempts one after another: in order, for each record.
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

-- One receiver's queue: a row for each receiver. See services/webhook/src/storage/lanes.ts for the locking order.
create table webhook.lanes (
  receiver_id text collate "C" primary key references webhook.receivers (id) on delete cascade,
  -- The receiver is disabled: nothing is sent, and everything is kept.
  held boolean not null default false,
  -- No delivery is due before this time; infinity without pending deliveries.
  next_due timestamptz not null default 'infinity',
  in_flight integer not null default 0 check (in_flight >= 0),
  max_in_flight integer not null default 8 check (max_in_flight between 1 and 64),
  -- The circuit is open until this time: nothing is sent before it.
  open_until timestamptz not null default '-infinity',
  -- When the circuit last opened: attempts that started before count as one trial.
  opened_at timestamptz(3),
  -- Failed attempts since the last success or since the receiver was enabled, tests excluded. Ten open the circuit.
  failed_in_a_row integer not null default 0,
  -- Times the circuit opened since the last success. Each time it stays open twice as long.
  trips integer not null default 0,
  -- See services/webhook/src/domain/failure-clock.ts.
  first_failure_at timestamptz(3),
  failing_since timestamptz(3),
  last_served timestamptz not null default '-infinity',
  -- HTTP status of the last attempt, 0 without a response. Here and not in receivers, because every result updates the lane.
  last_status integer,
  last_delivery_at timestamptz(3),
  -- Failed attempts since the last success, tests excluded, shown to members.
  failures integer not null default 0
) with (fillfactor = 70);

-- Few of thousands of lanes have anything to send. Claims do not read the others.
create index lanes_to_serve on webhook.lanes (last_served) where next_due < 'infinity' and not held;
