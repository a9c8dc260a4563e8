-- Brands, their members, and their API keys. A person is an e-mail address that is a member of some brand.

create table accounts.brands (
  id text collate "C" primary key check (id ~ '^brd_[0-9a-z]{1,40}$'),
  name text not null check (char_length(name) between 1 and 200),
  tier text not null check (tier in ('starter', 'plus', 'pro', 'enterprise')),
  verified boolean not null,
  -- Raised with every change to a key, the tier or the verification. Follows the clock, so that a brand that is created
  -- again under its old id, or restored from a backup, never repeats an epoch that a gateway still caches.
  epoch bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
  epoch_changed_at timestamptz(3) not null default clock_timestamp(),
  -- Set while the brand is being deleted: to all calls but those of the deletion there is no such brand. docs/decisions/0014-brand-deletion.md
  deletion_started_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table accounts.members (
  brand_id text collate "C" not null references accounts.brands,
  -- In lower case, so that a person is one member.
  email text collate "C" not null check (email = lower(email) and char_length(email) between 3 and 254),
  role text not null check (role in ('owner', 'member')),
  created_at timestamptz(3) not null default now(),
  primary key (brand_id, email)
);

create table accounts.keys (
  id text collate "C" primary key check (id ~ '^key_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null references accounts.brands,
  environment text not null check (environment in ('live', 'test')),
  name text not null check (char_length(name) between 1 and 80),
  permissions text[] not null,
  hint text not null,
  -- HMAC-SHA-256 of SHA-256(key) under the pepper of this version. The key itself is not stored.
  pepper_version integer not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text,
  check ((revoked_at is null) = (revoked_by is null)),
  unique (key_hash)
);

-- Which schema this row was written in, by the oid of a table. Another one got the row from a dump: it is a restored copy.
create table accounts.origin (
  is_only boolean primary key default true check (is_only),
  brands_oid oid not null
);

-- For the republication of recent epochs (a Redis failover may lose the newest).
create index brands_epoch_changed_at on accounts.brands (epoch_changed_at);
create index members_email on accounts.members (email);
-- Pages of keys begin with those that are not revoked, however many revoked ones there are: 40,000 hid a leaked key that was to be revoked.
create index keys_in_pages on accounts.keys (brand_id, (revoked_at is null) desc, created_at desc, id desc);
-- For what operators export and erase of a person.
create index keys_created_by on accounts.keys (created_by) where created_by is not null;
create index keys_revoked_by on accounts.keys (revoked_by) where revoked_by is not null;

-- Revocation is final, whatever writes the table.
create function accounts.refuse_unrevoking() returns trigger language plpgsql as $$
begin
  raise exception 'key % is revoked permanently', old.id using errcode = 'check_violation';
end $$;

create trigger keys_stay_revoked before update on accounts.keys
  for each row when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function accounts.refuse_unrevoking();
