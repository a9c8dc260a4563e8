-- The audit log, and erasing people from it.

-- No reference to brands: the entry about a brand's creation is written before the brand, and entries outlive a deleted one.
create table accounts.audit_entries (
  id text collate "C" primary key check (id ~ '^aud_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  -- E-mail address of the member; null: the operator.
  actor text collate "C",
  -- The owner whose link opened the session in which the actor acted: the owner could have opened it, too.
  via text collate "C" check (via = lower(via)),
  action text collate "C" not null,
  subject_id text collate "C",
  -- Names, never values.
  fields text[] not null,
  -- That was given.
  role text check (role in ('owner', 'member')),
  request_id text not null,
  address text,
  -- Its family, such as Firefox.
  browser text check (char_length(browser) between 1 and 40),
  -- Refused sign-ins are counted in one entry, so that no one fills the log.
  tries integer not null default 1 check (tries > 0),
  created_at timestamptz(3) not null default now(),
  outcome text check (outcome in ('done', 'failed', 'unknown')),
  error_kind text,
  finished_at timestamptz(3),
  check ((outcome is null) = (finished_at is null))
);

-- Erasures that have begun and not ended: the address and what takes its place, so that a repetition goes on with the same pseudonym.
create table accounts.erasures (
  email text collate "C" primary key check (email = lower(email)),
  pseudonym text collate "C" not null unique check (pseudonym ~ '^erased_[0-9a-z]{26}$'),
  begun_at timestamptz(3) not null default now()
);

create index audit_entries_brand_id on accounts.audit_entries (brand_id, created_at desc, id desc);
create index audit_entries_created_at on accounts.audit_entries (created_at);
-- The order of the export: CHANGED_AT in services/accounts/src/storage/audit-export.ts.
create index audit_entries_changed on accounts.audit_entries ((coalesce(finished_at, created_at)), id);
-- What is known of deleted brands: one entry each, for as long as the audit log is kept.
create unique index audit_entries_brand_delete on accounts.audit_entries (brand_id) where action = 'brand.delete';
-- For what operators export and erase of a person.
create index audit_entries_actor on accounts.audit_entries (actor) where actor is not null;
create index audit_entries_subject_id on accounts.audit_entries (subject_id) where subject_id is not null;
create index audit_entries_via on accounts.audit_entries (via) where via is not null;
