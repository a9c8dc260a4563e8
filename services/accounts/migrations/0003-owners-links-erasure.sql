-- Sign-in links that owners make, and erasing people.

-- An owner's link opens the owner's brand alone, and so does the session that it opens: the person may be a member of other brands, now
-- or later. Null: of the operator, for every brand of the person. Links and sessions go with the membership of either person.
alter table accounts.sign_in_links
  add column brand_id text collate "C",
  add column made_by text collate "C",
  add constraint sign_in_links_of_brand check ((brand_id is null) = (made_by is null)),
  add constraint sign_in_links_member foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade,
  add constraint sign_in_links_owner foreign key (brand_id, made_by) references accounts.members (brand_id, email) on delete cascade;

alter table accounts.sessions
  add column brand_id text collate "C",
  add column made_by text collate "C",
  add constraint sessions_of_brand check ((brand_id is null) = (made_by is null)),
  add constraint sessions_member foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade,
  add constraint sessions_owner foreign key (brand_id, made_by) references accounts.members (brand_id, email) on delete cascade;

-- The owner whose link opened the session in which the actor acted: the owner could have opened it, too.
alter table accounts.audit_entries add column via text collate "C" check (via = lower(via));

-- For these references, and for what is kept about a person. Both tables are small; the indexes of larger ones are built after the start.
create index sign_in_links_email on accounts.sign_in_links (email);
create index sign_in_links_made_by on accounts.sign_in_links (made_by) where made_by is not null;
create index sessions_made_by on accounts.sessions (made_by) where made_by is not null;

-- Erasures that have begun and not ended: the address and what takes its place, so that a repetition goes on with the same pseudonym.
create table accounts.erasures (
  email text collate "C" primary key check (email = lower(email)),
  pseudonym text collate "C" not null unique check (pseudonym ~ '^erased_[0-9a-z]{26}$'),
  begun_at timestamptz(3) not null default now()
);
