-- works-with-schema: 11
-- Where a claim begins to read a lane's deliveries, so that it does not walk over the index entries of those that are gone: an older
-- snapshot keeps these. docs/decisions/0023-claims-and-first-attempts.md
alter table webhook.lanes
  -- No pending delivery of the lane comes before (bound_due, bound_id), as long as bound_due equals next_due. A process of release 0.3.0
  -- changes next_due alone: then the bound is next_due.
  add column bound_due timestamptz not null default '-infinity',
  add column bound_id text collate "C" not null default '',
  -- Rises when a process begins to look for the lane's first pending delivery without a lock, and the least time by which deliveries
  -- became due since: none that came meanwhile is before it.
  add column walks bigint not null default 0,
  add column arrived_due timestamptz not null default 'infinity';

-- The default was the transaction's time. A transaction that waits for its lane adds deliveries after those that were added meanwhile, and
-- they must not come before them, where a receiver takes one attempt at a time.
alter table webhook.deliveries alter column due_at set default statement_timestamp();
