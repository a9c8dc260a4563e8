-- Processes that live and the keys that they hold, so that nothing is stored under a key that one of them lacks. docs/decisions/0018-announced-keys.md

create table webhook.living_processes (
  -- Another at each start.
  id text collate "C" primary key,
  -- For operators.
  name text not null,
  -- Each with its id and a fingerprint, which reveals nothing of it.
  keys jsonb not null,
  -- It counts as living for 30 s.
  seen_at timestamptz not null
  -- A row is updated every five seconds: room for the new version on its page.
) with (fillfactor = 50);
