-- works-with-schema: 5
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

create index usage_clients_day on accounts.usage_clients (day);
