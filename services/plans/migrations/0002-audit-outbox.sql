-- works-with-schema: 1
-- Entries of the audit log, written by the changes that they are about, until accounts has them and for seven days after that.

create table plans.audit_outbox (
  seq bigint generated always as identity unique,
  id text collate "C" primary key check (id ~ '^aud_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  entry jsonb not null,
  -- Refusals of one person, change, kind and day are counted in one entry. An erasure takes away what they are counted by.
  counted_by text collate "C" unique,
  tries integer not null default 1 check (tries > 0),
  -- The clock's time: the transaction may have waited for the locks of another change, which comes before it.
  created_at timestamptz(3) not null default clock_timestamp(),
  waits_since timestamptz(3) not null default clock_timestamp(),
  -- Null: accounts has not got it yet, or not its last count.
  acknowledged_at timestamptz(3),
  -- When accounts last refused it as invalid.
  refused_at timestamptz(3)
);

-- Who hands entries to accounts: packages/service-runtime/src/audit-outbox.ts.
create table plans.audit_relay (
  only_row boolean primary key default true check (only_row),
  -- The process that leads, and until when no other does.
  leader text collate "C",
  leads_until timestamptz,
  -- Of the audit log that has acknowledged entries, and when accounts last said it.
  epoch text collate "C",
  asked_at timestamptz
);

insert into plans.audit_relay default values;

create index audit_outbox_waiting on plans.audit_outbox (seq) where acknowledged_at is null;
create index audit_outbox_acknowledged_at on plans.audit_outbox (acknowledged_at) where acknowledged_at is not null;
create index audit_outbox_brand_id on plans.audit_outbox (brand_id);
