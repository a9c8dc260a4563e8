-- Deleting a brand. docs/decisions/0014-brand-deletion.md

-- Set while the brand is being deleted: to all calls but those of the deletion there is no such brand.
alter table accounts.brands add column deletion_started_at timestamptz(3);

-- What is known of deleted brands: one entry each, for as long as the audit log is kept. Here and not after the start, as
-- the deletion relies on it: the build reads the table once, which is empty in an upgrade from 0.2.0, and no entry qualifies yet.
create unique index audit_entries_brand_delete on accounts.audit_entries (brand_id) where action = 'brand.delete';
