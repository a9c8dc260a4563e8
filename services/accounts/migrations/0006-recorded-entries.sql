-- works-with-schema: 5
-- Entries that the service which makes a change writes in its transaction, and sessions by the brands that they opened.

-- False: a console or brandctl of 1.0 has said what it does.
alter table accounts.audit_entries add column recorded boolean not null default false;

create table accounts.audit_epoch (
  only_row boolean primary key default true check (only_row),
  -- Of this audit log. A restored one gets another: plans and webhook then give it again what it may lack.
  epoch text collate "C" not null default gen_random_uuid()::text,
  -- Until then, consoles and brandctl of 1.0 may say what they do at services of 1.0, which record nothing: an update is over by then.
  announced_until timestamptz(3) not null
);

insert into accounts.audit_epoch (announced_until)
select case when exists (select from accounts.brands) then now() + interval '1 day' else '-infinity' end;

-- A brand's log tells of a person's session from when it opens that brand.
create table accounts.session_brands (
  token_hash bytea not null references accounts.sessions (token_hash) on delete cascade,
  brand_id text collate "C" not null references accounts.brands (id) on delete cascade,
  primary key (token_hash, brand_id)
);

create index session_brands_brand_id on accounts.session_brands (brand_id);

-- True: accounts 1.0 has written its beginning into the log of every brand of the person.
alter table accounts.sessions add column told_everyone boolean not null default true;
-- False: the person has opened the brand in no session yet.
alter table accounts.members add column has_opened boolean not null default true;
