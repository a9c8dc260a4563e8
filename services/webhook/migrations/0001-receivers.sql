-- Receivers of brands, their secrets, and their lanes.

-- Brands that accounts confirmed, so that accounts is called once for each. A transaction that adds a receiver locks its brand's row, so
-- the receivers of a brand are counted exactly.
create table webhook.brands (
  brand_id text collate "C" primary key check (brand_id ~ '^brd_[0-9a-z]{1,40}$'),
  -- Set while a brand is being deleted: its events are dropped, and nothing is sent to its receivers. The row goes last.
  deletion_started_at timestamptz(3)
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
  next_secret_at timestamptz(3),
  -- When the receiver accepted a test signed with this next secret alone, at this URL. Activating the next secret waits for it.
  next_secret_accepted_at timestamptz(3),
  -- Attempts that may be in flight. 1 sends first attempts one after another: in order, for each record.
  max_in_flight integer not null default 64 check (max_in_flight between 1 and 64),
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('member', 'gone', 'failing')),
  disabled_at timestamptz(3),
  -- How often the receiver was disabled, repeats included: enabling, which may take minutes, ends only what was so when it began.
  disables bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (enabled = (disabled_reason is null) and enabled = (disabled_at is null)),
  check ((next_secret is null) = (next_secret_key_id is null)),
  check (next_secret_accepted_at is null or next_secret is not null),
  primary key (brand_id, id),
  unique (brand_id, url)
);

-- One receiver's queue: a row for each receiver. See services/webhook/src/storage/lanes.ts for the locking order.
--
-- A lane is updated with every batch of its results. While an older snapshot is open, as a dump's, all its versions stay: nearly empty pages
-- keep some ten of them behind one index entry, and every look-up and every update visits all entries.
-- docs/decisions/0023-claims-and-first-attempts.md
create table webhook.lanes (
  receiver_id text collate "C" primary key references webhook.receivers (id) on delete cascade,
  -- The receiver is disabled: nothing is sent, and everything is kept.
  held boolean not null default false,
  -- No delivery is due before this time; infinity without pending deliveries.
  next_due timestamptz not null default 'infinity',
  -- Where a claim begins to read the lane's deliveries, so that it does not walk over the index entries of those that are gone: an older
  -- snapshot keeps these. No pending delivery comes before (bound_due, bound_id), as long as bound_due equals next_due.
  bound_due timestamptz not null default '-infinity',
  bound_id text collate "C" not null default '',
  -- Rises when a process begins to look for the lane's first pending delivery without a lock, and the least time by which deliveries
  -- became due since: none that came meanwhile is before it.
  walks bigint not null default 0,
  arrived_due timestamptz not null default 'infinity',
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
  -- Of the last attempt; the HTTP status is 0 without a response. Here and not in receivers, because every result updates the lane.
  last_status integer,
  last_outcome text,
  last_delivery_at timestamptz(3),
  -- Failed attempts since the last success, tests excluded, shown to members.
  failures integer not null default 0,
  -- When tests were sent again, within a minute before the last of these times: they count towards the limit on tests. Null until the first.
  tests_repeated_at timestamptz[]
) with (fillfactor = 10);

-- Few of thousands of lanes have anything to send. Claims do not read the others.
create index lanes_to_serve on webhook.lanes (last_served) where next_due < 'infinity' and not held;

-- A new next secret, and the same one at another URL, is not accepted yet, whatever writes the row.
create function webhook.date_next_secret() returns trigger language plpgsql as $$
begin
  if new.next_secret is distinct from old.next_secret then
    new.next_secret_at := case when new.next_secret is not null then clock_timestamp() end;
  end if;
  new.next_secret_accepted_at := null;
  return new;
end $$;

create trigger date_next_secret before update of next_secret, url on webhook.receivers
  for each row when (new.next_secret is distinct from old.next_secret or new.url is distinct from old.url)
  execute function webhook.date_next_secret();
