-- works-with-schema: 5
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

create index failed_requests_minute on accounts.failed_requests (minute);
