-- The resources. Every key and index leads with brand_id: a query of one brand touches no other brand's rows, and a
-- distributed Postgres can shard by it. Lists walk (brand_id, created_at, id) backwards: a page costs the same at any
-- depth. Ids compare byte by byte ("C"), here as in the cursor.
--
-- The checks refuse every value that the API cannot serve, because one such row breaks every page that holds it: an amount
-- above 2^53 - 1 is no JSON number, the year 20000 and infinity are no RFC 3339 times. The bounds on text keep a page of 200
-- rows below the 8 MiB of a message. packages/resources refuses at least as much on import, with the line and the field.
--
-- An id is checked by pattern and length: the bounded repetition {1,40} takes 14 µs a row, this takes 2.

create function records.refuse_identity_change() returns trigger language plpgsql as $$
begin
  raise exception '% %: brand_id, id and created_at never change', tg_table_name, old.id using errcode = 'check_violation';
end $$;

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

do $$
declare
  resource text;
  col record;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    execute format('create unique index %I on records.%I (brand_id, created_at, id)', resource || '_newest', resource);
    execute format(
      'create trigger %I before update on records.%I for each row
         when (new.brand_id <> old.brand_id or new.id <> old.id or new.created_at <> old.created_at)
         execute function records.refuse_identity_change()', resource || '_identity', resource);
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
  end loop;
end $$;
