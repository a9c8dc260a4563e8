-- works-with-schema: 5
-- The last requests of each brand: a row for each batch of a gateway, and each brand in it.

create table accounts.recent_requests (
  brand_id text collate "C" not null,
  -- How many of the brand are recorded, these included: what is beyond the last 1,000 is found by its key.
  until bigint not null,
  recorded_at timestamptz(3) not null default now(),
  -- A message ServedRequests.
  requests bytea not null,
  primary key (brand_id, until)
);

create index recent_requests_recorded_at on accounts.recent_requests (recorded_at);
