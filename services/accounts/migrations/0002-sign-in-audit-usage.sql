-- Sessions, sign-in links, identities, the audit log, and usage. A person is an e-mail address that is a member of some brand.

create index members_email on accounts.members (email);

create table accounts.sessions (
  -- SHA-256 of the token. The token itself is not stored.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  email text collate "C" not null check (email = lower(email)),
  -- Of the identity that signed in; null after a sign-in link.
  issuer text,
  created_at timestamptz(3) not null default now(),
  -- Written at most once a minute.
  last_used_at timestamptz(3) not null default now()
);

create index sessions_email on accounts.sessions (email);
create index sessions_created_at on accounts.sessions (created_at);

create table accounts.sign_in_links (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  email text collate "C" not null check (email = lower(email)),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index sign_in_links_expires_at on accounts.sign_in_links (expires_at);

-- An account at an OpenID provider, bound to a person by the first sign-in.
create table accounts.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  email text collate "C" not null check (email = lower(email)),
  bound_at timestamptz(3) not null default now(),
  primary key (issuer, subject),
  unique (email, issuer)
);

-- No reference to brands: the entry about a brand's creation is written before the brand.
create table accounts.audit_entries (
  id text collate "C" primary key check (id ~ '^aud_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  -- E-mail address of the member; null: the operator.
  actor text collate "C",
  action text collate "C" not null,
  subject_id text collate "C",
  -- Names, never values.
  fields text[] not null,
  request_id text not null,
  address text,
  created_at timestamptz(3) not null default now(),
  outcome text check (outcome in ('done', 'failed', 'unknown')),
  error_kind text,
  finished_at timestamptz(3),
  check ((outcome is null) = (finished_at is null))
);

create index audit_entries_brand_id on accounts.audit_entries (brand_id, created_at desc, id desc);
create index audit_entries_created_at on accounts.audit_entries (created_at);

create table accounts.usage_minutes (
  brand_id text collate "C" not null,
  minute timestamptz(3) not null check (minute = date_trunc('minute', minute, 'UTC')),
  key_id text collate "C" not null,
  accepted bigint not null check (accepted >= 0),
  refused bigint not null check (refused >= 0),
  primary key (brand_id, minute, key_id)
);

create index usage_minutes_minute on accounts.usage_minutes (minute);

-- Batches of gateways that are recorded: a repetition adds nothing.
create table accounts.usage_batches (
  id uuid primary key,
  recorded_at timestamptz(3) not null default now()
);

create index usage_batches_recorded_at on accounts.usage_batches (recorded_at);
