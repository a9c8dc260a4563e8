-- works-with-schema: 4
-- Entries of the audit log, written by the changes that they are about, until accounts has them and for seven days after that.

create table webhook.audit_outbox (
  seq bigint generated always as identity unique,
  id text collate "C" primary key check (id ~ '^aud_[0-9a-z]{1,40}$'),
  brand_id text collate "C" not null,
  entry jsonb not null,
  -- Refusals of one person, change and day are counted in one entry.
  tries integer not null default 1 check (tries > 0),
  created_at timestamptz(3) not null,
  -- Null: accounts has not got it yet, or not its last count.
  acknowledged_at timestamptz(3)
);

-- Of the audit log that has acknowledged them: packages/service-runtime/src/audit-outbox.ts.
create table webhook.audit_epoch (
  only_row boolean primary key default true check (only_row),
  epoch text collate "C" not null
);

create index audit_outbox_waiting on webhook.audit_outbox (seq) where acknowledged_at is null;
create index audit_outbox_acknowledged_at on webhook.audit_outbox (acknowledged_at) where acknowledged_at is not null;
create index audit_outbox_brand_id on webhook.audit_outbox (brand_id);
