-- works-with-schema: 5
-- Mail to owners: what each gets, and what waits to be sent.

-- What an owner has not switched off. Kept while the person is a member who is no owner, who gets none.
alter table accounts.members add column mail_receivers boolean not null default true;
alter table accounts.members add column mail_plans_and_keys boolean not null default true;

-- A row for each owner and subject of the last day: one mail an hour tells all that happened since the one before. Goes with the membership,
-- so that nothing is kept of a person who is erased.
create table accounts.mails (
  brand_id text collate "C" not null,
  email text collate "C" not null,
  subject text collate "C" not null check (subject ~ '^(plans|keys|[a-z]+_[0-9a-z]{1,40})$'),
  -- What the next mail tells: id, action, subject_id, at. Ids and times alone.
  notices jsonb not null default '[]',
  -- Ids of notices that came before: a repetition is not sent again.
  settled text[] not null default '{}',
  sent_at timestamptz(3),
  -- When it is tried next; null: nothing waits. While a process tries, when another may.
  due_at timestamptz(3),
  -- Of this mail.
  tries integer not null default 0,
  check ((due_at is null) = (notices = '[]')),
  primary key (brand_id, email, subject),
  foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade
);

create index mails_due_at on accounts.mails (due_at) where due_at is not null;
