-- The copy's tables and views, the same for sync.py and sync.js. README.md explains them. Both run this file at every start; to change a
-- view, drop it first.

pragma journal_mode = wal; -- Others may read the copy during a walk.

-- Every record, as a list returned it: `record` is its JSON, so fields that a later release adds are kept. `listed_in` is the last walk that
-- listed it, and `listed_at` when, by the service's clock.
create table if not exists records (
  resource text not null,
  id text not null,
  created_at text not null,
  updated_at text not null,
  record text not null,
  listed_in integer not null,
  listed_at text not null,
  primary key (resource, id)
);

-- The one brand whose records these are.
create table if not exists brand (only_row integer primary key check (only_row = 1), id text not null);

-- One row a walk, and the lists that the unfinished walk still has to read, each from its cursor (null: from the start).
create table if not exists walks (id integer primary key, started_at text not null, finished_at text);
create table if not exists to_read (resource text primary key, cursor text);

-- Events since the last walk ended. One that is received while a page is on its way is merged after that page, which may be older.
-- `received_at` is by this machine's clock.
create table if not exists waiting_events (
  resource text not null,
  id text not null,
  updated_at text not null,
  event text not null,
  received_at text not null,
  primary key (resource, id, updated_at)
);

-- Records that the last finished walk or the one after it listed.
create view if not exists listed as
  select * from records where listed_in >= ifnull((select max(id) from walks where finished_at is not null), 0);

-- Records that were listed before, but not by the last finished walk. The platform deletes none: ask the operator about them.
create view if not exists vanished as
  select * from records where listed_in < (select max(id) from walks where finished_at is not null);

-- The resources without vanished records, with the fields of today's API. Money stays a whole number of centavos.
create view if not exists campaigns as
  select id, created_at, updated_at,
    json_extract(record, '$.title') as title,
    json_extract(record, '$.type') as type,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.plan_id') as plan_id,
    json_extract(record, '$.currency') as currency,
    json_extract(record, '$.budget_centavos') as budget_centavos,
    json_extract(record, '$.committed_centavos') as committed_centavos,
    json_extract(record, '$.paid_centavos') as paid_centavos,
    json_extract(record, '$.rate_per_1000_views_centavos') as rate_per_1000_views_centavos,
    json_extract(record, '$.fee_per_deliverable_centavos') as fee_per_deliverable_centavos,
    json_extract(record, '$.commission_bps') as commission_bps,
    json_extract(record, '$.platforms') as platforms,
    json_extract(record, '$.starts_at') as starts_at,
    json_extract(record, '$.ends_at') as ends_at,
    json_extract(record, '$.settled_at') as settled_at
  from listed where resource = 'campaigns';

create view if not exists submissions as
  select id, created_at, updated_at,
    json_extract(record, '$.campaign_id') as campaign_id,
    json_extract(record, '$.creator_id') as creator_id,
    json_extract(record, '$.payout_id') as payout_id,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.platform') as platform,
    json_extract(record, '$.content_url') as content_url,
    json_extract(record, '$.views') as views,
    json_extract(record, '$.earned_centavos') as earned_centavos,
    json_extract(record, '$.currency') as currency,
    json_extract(record, '$.rejection_code') as rejection_code,
    json_extract(record, '$.submitted_at') as submitted_at,
    json_extract(record, '$.reviewed_at') as reviewed_at
  from listed where resource = 'submissions';

create view if not exists payouts as
  select id, created_at, updated_at,
    json_extract(record, '$.campaign_id') as campaign_id,
    json_extract(record, '$.creator_id') as creator_id,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.amount_centavos') as amount_centavos,
    json_extract(record, '$.fee_centavos') as fee_centavos,
    json_extract(record, '$.currency') as currency,
    json_extract(record, '$.submission_count') as submission_count,
    json_extract(record, '$.conversion_count') as conversion_count,
    json_extract(record, '$.failure_code') as failure_code,
    json_extract(record, '$.initiated_at') as initiated_at,
    json_extract(record, '$.paid_at') as paid_at
  from listed where resource = 'payouts';

create view if not exists deposits as
  select id, created_at, updated_at,
    json_extract(record, '$.campaign_id') as campaign_id,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.amount_centavos') as amount_centavos,
    json_extract(record, '$.refunded_centavos') as refunded_centavos,
    json_extract(record, '$.currency') as currency,
    json_extract(record, '$.method') as method,
    json_extract(record, '$.reference') as reference,
    json_extract(record, '$.credited_at') as credited_at
  from listed where resource = 'deposits';

create view if not exists conversions as
  select id, created_at, updated_at,
    json_extract(record, '$.campaign_id') as campaign_id,
    json_extract(record, '$.link_id') as link_id,
    json_extract(record, '$.creator_id') as creator_id,
    json_extract(record, '$.payout_id') as payout_id,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.external_id') as external_id,
    json_extract(record, '$.order_amount_centavos') as order_amount_centavos,
    json_extract(record, '$.commission_centavos') as commission_centavos,
    json_extract(record, '$.currency') as currency,
    json_extract(record, '$.occurred_at') as occurred_at,
    json_extract(record, '$.reversal_code') as reversal_code
  from listed where resource = 'conversions';

create view if not exists links as
  select id, created_at, updated_at,
    json_extract(record, '$.campaign_id') as campaign_id,
    json_extract(record, '$.creator_id') as creator_id,
    json_extract(record, '$.status') as status,
    json_extract(record, '$.code') as code,
    json_extract(record, '$.url') as url,
    json_extract(record, '$.destination_url') as destination_url,
    json_extract(record, '$.clicks') as clicks,
    json_extract(record, '$.conversions') as conversions,
    json_extract(record, '$.expires_at') as expires_at
  from listed where resource = 'links';

