-- works-with-schema: 5
-- Sign-ins in the audit log, the roles that were given, ID tokens that were used, and how a restored schema is noticed.

alter table accounts.audit_entries
  -- Its family, such as Firefox.
  add column browser text check (char_length(browser) between 1 and 40),
  add column role text check (role in ('owner', 'member')),
  -- Refused sign-ins are counted in one entry, so that no one fills the log.
  add column tries integer not null default 1 check (tries > 0);

-- Each ID token signs in once: they pass through consoles, and browsers keep them for signing out.
create table accounts.used_id_tokens (
  -- SHA-256 of what the provider has signed: the token without its signature, which has several spellings. The token is not stored.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- No process accepts the token from then on, so the row may go.
  expires_at timestamptz(3) not null
);

create index used_id_tokens_expires_at on accounts.used_id_tokens (expires_at);

-- Which schema this row was written in, by the oid of a table. Another one got the row from a dump: it is a restored copy.
create table accounts.origin (
  is_only boolean primary key default true check (is_only),
  brands_oid oid not null
);
