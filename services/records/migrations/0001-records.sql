-- The resources. Every key and index leads with brand_id: a query of one brand touches no other brand's rows, and a
-- distributed Postgres can shard by it. Lists walk (brand_id, created_at, id) backwards: a page costs the same at any
-- depth. Ids compare byte by byte ("C"), here as in the cursor.
--
-- The checks refuse every value that the API cannot serve, because one such row breaks every page that holds it: an amount
-- above 2^53 - 1 is no JSON number, the year 20000 and infinity are no RFC 3339 times. The bounds on text keep a page of 200
-- rows below the 8 MiB of a message. packages/resources refuses at least as much on import, with the line and the field.
--
-- An id is checked by pattern and length: the bounded repetition {1,40} takes 14 µs a row, this takes 2.

create table records.campaigns (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^cmp_[0-9a-z]+$' and char_length(id) <= 44),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  title text not null check (char_length(title) between 1 and 200),
  type text not null check (type in ('blitz', 'ugc', 'package', 'affiliate')),
  status text not null check (status in ('draft', 'pending_funding', 'active', 'paused', 'ended', 'settled', 'cancelled')),
  plan_id text check (plan_id ~ '^pln_[0-9a-z]+$' and char_length(plan_id) <= 44),
  currency text not null check (currency = 'PHP'),
  budget_centavos bigint not null,
  committed_centavos bigint not null,
  paid_centavos bigint not null,
  rate_per_1000_views_centavos bigint,
  fee_per_deliverable_centavos bigint,
  commission_bps integer check (commission_bps between 0 and 10000),
  platforms text[] not null check (
    cardinality(platforms) <= 20 and coalesce(array_ndims(platforms), 1) = 1
    and array_position(platforms, null) is null and array_position(platforms, '') is null
    -- No element is longer than 64 characters. The regular expression misses one with line breaks: the total bounds it.
    and array_to_string(platforms, E'\n') !~ '[^\n]{65}' and char_length(array_to_string(platforms, '')) <= 1280),
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  settled_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.submissions (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^sub_[0-9a-z]+$' and char_length(id) <= 44),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null check (campaign_id ~ '^cmp_[0-9a-z]+$' and char_length(campaign_id) <= 44),
  creator_id text not null check (creator_id ~ '^crt_[0-9a-z]+$' and char_length(creator_id) <= 44),
  payout_id text check (payout_id ~ '^po_[0-9a-z]+$' and char_length(payout_id) <= 43),
  status text not null check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
  platform text not null check (char_length(platform) between 1 and 64),
  -- A URL: http or https, a host, no user name or password, no blanks or control characters. As WEB_URL in packages/resources.
  content_url text not null
    check (char_length(content_url) <= 2048 and content_url ~ '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\@\u0001-\u0020\u007f]+([/?#\\][^\u0001-\u0020\u007f]*)?$'),
  views bigint,
  earned_centavos bigint not null,
  currency text not null check (currency = 'PHP'),
  rejection_code text check (rejection_code in ('off_brief', 'low_quality', 'duplicate', 'policy', 'invalid_views', 'other')),
  submitted_at timestamptz(3) not null,
  reviewed_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.payouts (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^po_[0-9a-z]+$' and char_length(id) <= 43),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null check (campaign_id ~ '^cmp_[0-9a-z]+$' and char_length(campaign_id) <= 44),
  creator_id text not null check (creator_id ~ '^crt_[0-9a-z]+$' and char_length(creator_id) <= 44),
  status text not null check (status in ('pending', 'processing', 'paid', 'failed', 'cancelled', 'reversed')),
  amount_centavos bigint not null,
  fee_centavos bigint not null,
  currency text not null check (currency = 'PHP'),
  submission_count integer not null check (submission_count >= 0),
  conversion_count integer not null check (conversion_count >= 0),
  failure_code text check (failure_code in ('account_invalid', 'rail_unavailable', 'compliance', 'other')),
  initiated_at timestamptz(3),
  paid_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.deposits (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^dep_[0-9a-z]+$' and char_length(id) <= 44),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text check (campaign_id ~ '^cmp_[0-9a-z]+$' and char_length(campaign_id) <= 44),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'expired', 'refunded')),
  amount_centavos bigint not null,
  refunded_centavos bigint not null,
  currency text not null check (currency = 'PHP'),
  method text not null check (method in ('gcash', 'maya', 'qrph', 'card', 'bank_transfer')),
  reference text check (char_length(reference) between 1 and 200),
  credited_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.conversions (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^cnv_[0-9a-z]+$' and char_length(id) <= 44),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null check (campaign_id ~ '^cmp_[0-9a-z]+$' and char_length(campaign_id) <= 44),
  link_id text not null check (link_id ~ '^lnk_[0-9a-z]+$' and char_length(link_id) <= 44),
  creator_id text not null check (creator_id ~ '^crt_[0-9a-z]+$' and char_length(creator_id) <= 44),
  payout_id text check (payout_id ~ '^po_[0-9a-z]+$' and char_length(payout_id) <= 43),
  status text not null check (status in ('pending', 'approved', 'reversed')),
  external_id text not null check (char_length(external_id) between 1 and 200),
  order_amount_centavos bigint not null,
  commission_centavos bigint not null,
  currency text not null check (currency = 'PHP'),
  occurred_at timestamptz(3) not null,
  reversal_code text check (reversal_code in ('returned', 'fraud', 'duplicate', 'order_error')),
  primary key (brand_id, id)
);

create table records.links (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^lnk_[0-9a-z]+$' and char_length(id) <= 44),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null check (campaign_id ~ '^cmp_[0-9a-z]+$' and char_length(campaign_id) <= 44),
  creator_id text not null check (creator_id ~ '^crt_[0-9a-z]+$' and char_length(creator_id) <= 44),
  status text not null check (status in ('active', 'paused', 'disabled', 'expired')),
  code text not null check (char_length(code) between 1 and 64),
  url text not null
    check (char_length(url) <= 2048 and url ~ '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\@\u0001-\u0020\u007f]+([/?#\\][^\u0001-\u0020\u007f]*)?$'),
  destination_url text not null
    check (char_length(destination_url) <= 2048 and destination_url ~ '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\@\u0001-\u0020\u007f]+([/?#\\][^\u0001-\u0020\u007f]*)?$'),
  clicks bigint not null,
  conversions bigint not null,
  expires_at timestamptz(3),
  primary key (brand_id, id)
);

-- Pages without filters, oldest first and backwards.
create unique index campaigns_newest on records.campaigns (brand_id, created_at, id);
create unique index submissions_newest on records.submissions (brand_id, created_at, id);
create unique index payouts_newest on records.payouts (brand_id, created_at, id);
create unique index deposits_newest on records.deposits (brand_id, created_at, id);
create unique index conversions_newest on records.conversions (brand_id, created_at, id);
create unique index links_newest on records.links (brand_id, created_at, id);

-- Pages with filters, one index for each. `created_at` is never null: where its order places null only tells the indexes apart, see
-- services/records/src/storage/page-statements.ts. The status in them makes every change of a status write all indexes of its table;
-- docs/decisions/0025-filters.md has the costs.
create index campaigns_of_status on records.campaigns (brand_id, status, created_at, id);
create index submissions_of_campaign on records.submissions (brand_id, campaign_id, status, created_at nulls first, id);
create index submissions_of_status on records.submissions (brand_id, status, created_at, id);
create index payouts_of_campaign on records.payouts (brand_id, campaign_id, status, created_at nulls first, id);
create index payouts_of_status on records.payouts (brand_id, status, created_at, id);
create index deposits_of_campaign on records.deposits (brand_id, campaign_id, status, created_at nulls first, id);
create index deposits_of_status on records.deposits (brand_id, status, created_at, id);
create index conversions_of_link on records.conversions (brand_id, link_id, status, created_at nulls first, id);
create index conversions_of_campaign on records.conversions (brand_id, campaign_id, status, created_at nulls first, id);
create index conversions_of_status on records.conversions (brand_id, status, created_at, id);
create index links_of_campaign on records.links (brand_id, campaign_id, status, created_at nulls first, id);
create index links_of_status on records.links (brand_id, status, created_at, id);

-- Whether this transaction is an import: it brings in history, so it emits no events, and any status change is allowed.
-- Unset, empty and `on` mean no. Postgres leaves the setting empty in a session after the transaction of a `set local`. Any
-- other value is refused: `false` would send the events of an import.
create function records.is_import() returns boolean language plpgsql stable as $$
declare
  setting text := coalesce(current_setting('brand_records.events', true), '');
begin
  if setting in ('', 'on') then return false; end if;
  if setting = 'off' then return true; end if;
  raise exception 'brand_records.events is "%": it must be on or off', setting
    using errcode = 'invalid_parameter_value',
          hint = 'In an import: set local brand_records.events = off. Anywhere else leave it unset. docs/platform.md explains it.';
end $$;

create function records.refuse_identity_change() returns trigger language plpgsql as $$
begin
  raise exception '% %: brand_id, id and created_at never change', tg_table_name, old.id using errcode = 'check_violation';
end $$;

-- updated_at increases with every change of a record: of two states of a record, in lists and events, the one with the later updated_at is
-- the later one, also of two changes in one transaction, after a transaction that began first and committed last, and with a writer whose
-- clock is slow. An import brings its own updated_at, earlier or not: this is not called there.
create function records.touch() returns trigger language plpgsql as $$
begin
  -- The range's last millisecond has no later one. There the time stays, rather than to refuse every later change of the record.
  new.updated_at := greatest(now(), least(old.updated_at + interval '1 ms', '9999-12-31 23:59:59.999+00'));
  return new;
end $$;

do $$
declare
  resource text;
  col record;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    -- The range of every amount, large count and time.
    for col in
      select attname as name, atttypid as type from pg_attribute
       where attrelid = format('records.%I', resource)::regclass and attnum > 0
         and atttypid in ('bigint'::regtype, 'timestamptz'::regtype)
    loop
      execute format(
        'alter table records.%I add constraint %I check (%s)', resource, format('%s_%s_check', resource, col.name),
        case when col.type = 'bigint'::regtype
          then format('%I between 0 and 9007199254740991', col.name)
          else format('%1$I >= ''2000-01-01 00:00:00+00'' and %1$I < ''10000-01-01 00:00:00+00''', col.name)
        end);
    end loop;
    execute format(
      'create trigger %I before update on records.%I for each row
         when (new.brand_id <> old.brand_id or new.id <> old.id or new.created_at <> old.created_at)
         execute function records.refuse_identity_change()', resource || '_identity', resource);
    -- A writer may leave updated_at to the database or set it itself; a value that is not later than the row's is replaced.
    execute format(
      'create trigger %I before update on records.%I for each row
         when (new.updated_at <= old.updated_at and old.* is distinct from new.* and not records.is_import())
         execute function records.touch()', resource || '_touch', resource);
  end loop;
end $$;
