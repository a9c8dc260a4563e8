-- The copy's tables in Postgres. README.md explains them; postgres-store.js runs this file.

create schema if not exists brand_copy;

-- Every record, as a list returned it: `record` is its JSON, so fields that a later release adds are kept. `walk` is when the last walk
-- that listed it began, and `listed_at` when it was listed, by the service's clock.
create table if not exists brand_copy.records (
  resource text not null,
  id text not null,
  record jsonb not null,
  walk timestamptz not null,
  listed_at timestamptz not null,
  primary key (resource, id)
);

-- The one brand whose records these are, and what the unfinished walk still has to read.
create table if not exists brand_copy.state (
  only_row boolean primary key default true check (only_row),
  brand_id text not null,
  progress jsonb,
  finished_walk timestamptz
);

-- Events since the last walk ended. One that is received while a page is on its way is merged after that page, which may be older.
create table if not exists brand_copy.waiting_events (
  id text primary key,
  event jsonb not null,
  received_at timestamptz not null default clock_timestamp()
);

-- Records that were listed before, but not by the last finished walk. The platform deletes none: ask the operator about them.
create or replace view brand_copy.vanished as
  select resource, id, record from brand_copy.records where walk < (select finished_walk from brand_copy.state);
