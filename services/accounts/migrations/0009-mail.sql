-- works-with-schema: 5
-- Mail to owners: what each gets, and what waits to be sent.

-- What an owner has not switched off. Kept while the person is a member who is no owner, who gets none.
alter table accounts.members add column mail_receivers boolean not null default true;
alter table accounts.members add column mail_plans_and_keys boolean not null default true;

-- What owners are told: a row for each of them and each thing that happened. Ids and times alone. One mail an hour tells all of a subject.
-- Goes with the membership, so that nothing is kept of a person who is erased.
create table accounts.mails (
  brand_id text collate "C" not null,
  email text collate "C" not null,
  subject text collate "C" not null check (subject ~ '^(plans|keys|[a-z]+_[0-9a-z]{1,40})$'),
  -- Of the audit entry or notice: a repetition is the same row.
  id text collate "C" not null,
  action text collate "C" not null,
  subject_id text collate "C" not null,
  happened_at timestamptz(3) not null,
  -- When it is tried next; null: it was sent, or never will be. While a process tries, when another may.
  due_at timestamptz(3) default now(),
  tries integer not null default 0,
  sent_at timestamptz(3),
  primary key (brand_id, email, subject, id),
  foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade
);

create index mails_due_at on accounts.mails (due_at) where due_at is not null;
create index mails_happened_at on accounts.mails (happened_at);
