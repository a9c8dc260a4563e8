-- How keys are used: requests by minute, by assistant, and what was refused or failed.

create table accounts.usage_minutes (
  brand_id text collate "C" not null,
  minute timestamptz(3) not null check (minute = date_trunc('minute', minute, 'UTC')),
  key_id text collate "C" not null,
  accepted bigint not null check (accepted >= 0),
  refused bigint not null check (refused >= 0),
  primary key (brand_id, minute, key_id)
);

-- Batches of gateways that are recorded: a repetition adds nothing.
create table accounts.usage_batches (
  id uuid primary key,
  recorded_at timestamptz(3) not null default now()
);

-- Which assistants used a key, by the names that their clients declare.
create table accounts.usage_clients (
  brand_id text collate "C" not null,
  -- In Manila.
  day date not null,
  key_id text collate "C" not null,
  -- Proves nothing: a client may call itself anything.
  name text collate "C" not null check (char_length(name) between 1 and 64),
  messages bigint not null check (messages >= 0),
  primary key (brand_id, day, key_id, name)
);

-- Requests with a key that were refused or failed, by what people can change about them: neither what a request held nor a message.
create table accounts.failed_requests (
  brand_id text collate "C" not null,
  minute timestamptz(0) not null,
  key_id text collate "C" not null,
  -- Method and path of an operation; of an assistant's message also its method and tool. Never a path as it was sent.
  route text collate "C" not null check (char_length(route) between 1 and 200),
  -- The code of the error.
  code text collate "C" not null check (code ~ '^[a-z_]{1,60}$'),
  -- A name that the operation's input has, `*` for any other name, empty without one.
  field text collate "C" not null check (field ~ '^([a-z][a-z_]{0,40}|[*])?$'),
  requests bigint not null check (requests >= 0),
  -- The last three, oldest first.
  request_ids text[] not null,
  primary key (brand_id, minute, key_id, route, code, field)
);

-- For what is deleted once it is older than it is kept.
create index usage_minutes_minute on accounts.usage_minutes (minute);
create index usage_batches_recorded_at on accounts.usage_batches (recorded_at);
create index usage_clients_day on accounts.usage_clients (day);
create index failed_requests_minute on accounts.failed_requests (minute);
