-- The six resources. Every key and index leads with brand_id: no query of one brand touches another brand's rows, and a
-- distributed Postgres can shard by it. Lists walk (brand_id, created_at, id) backwards: a page costs the same at any
-- depth. Ids compare byte by byte ("C"), here as in the cursor.

create function records.refuse_identity_change() returns trigger language plpgsql as $$
begin
  raise exception '% %: brand_id, id and created_at never change', tg_table_name, old.id using errcode = 'check_violation';
end $$;

create table records.campaigns (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^cmp_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  title text not null,
  type text not null check (type in ('blitz', 'ugc', 'package', 'affiliate')),
  status text not null check (status in ('draft', 'pending_funding', 'active', 'paused', 'ended', 'settled', 'cancelled')),
  plan_id text,
  currency text not null check (currency = 'PHP'),
  budget_centavos bigint not null check (budget_centavos >= 0),
  committed_centavos bigint not null check (committed_centavos >= 0),
  paid_centavos bigint not null check (paid_centavos >= 0),
  rate_per_1000_views_centavos bigint check (rate_per_1000_views_centavos >= 0),
  fee_per_deliverable_centavos bigint check (fee_per_deliverable_centavos >= 0),
  commission_bps integer check (commission_bps between 0 and 10000),
  platforms text[] not null,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  settled_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.submissions (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^sub_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null,
  creator_id text not null,
  payout_id text,
  status text not null check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
  platform text not null,
  content_url text not null,
  views bigint check (views >= 0),
  earned_centavos bigint not null check (earned_centavos >= 0),
  currency text not null check (currency = 'PHP'),
  rejection_code text check (rejection_code in ('off_brief', 'low_quality', 'duplicate', 'policy', 'invalid_views', 'other')),
  submitted_at timestamptz(3) not null,
  reviewed_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.payouts (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^po_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null,
  creator_id text not null,
  status text not null check (status in ('pending', 'processing', 'paid', 'failed', 'cancelled', 'reversed')),
  amount_centavos bigint not null check (amount_centavos >= 0),
  fee_centavos bigint not null check (fee_centavos >= 0),
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
  id text collate "C" not null check (id ~ '^dep_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'expired', 'refunded')),
  amount_centavos bigint not null check (amount_centavos >= 0),
  refunded_centavos bigint not null check (refunded_centavos >= 0),
  currency text not null check (currency = 'PHP'),
  method text not null check (method in ('gcash', 'maya', 'qrph', 'card', 'bank_transfer')),
  reference text,
  credited_at timestamptz(3),
  primary key (brand_id, id)
);

create table records.conversions (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^cnv_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null,
  link_id text not null,
  creator_id text not null,
  payout_id text,
  status text not null check (status in ('pending', 'approved', 'reversed')),
  external_id text not null,
  order_amount_centavos bigint not null check (order_amount_centavos >= 0),
  commission_centavos bigint not null check (commission_centavos >= 0),
  currency text not null check (currency = 'PHP'),
  occurred_at timestamptz(3) not null,
  reversal_code text check (reversal_code in ('returned', 'fraud', 'duplicate', 'order_error')),
  primary key (brand_id, id)
);

create table records.links (
  brand_id text collate "C" not null,
  id text collate "C" not null check (id ~ '^lnk_[0-9a-z]{1,40}$'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text not null,
  creator_id text not null,
  status text not null check (status in ('active', 'paused', 'disabled', 'expired')),
  code text not null,
  url text not null,
  destination_url text not null,
  clicks bigint not null check (clicks >= 0),
  conversions bigint not null check (conversions >= 0),
  expires_at timestamptz(3),
  primary key (brand_id, id)
);

do $$
declare
  resource text;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    execute format('create unique index %I on records.%I (brand_id, created_at, id)', resource || '_newest', resource);
    execute format(
      'create trigger %I before update on records.%I for each row
         when (new.brand_id <> old.brand_id or new.id <> old.id or new.created_at <> old.created_at)
         execute function records.refuse_identity_change()', resource || '_identity', resource);
  end loop;
end $$;
