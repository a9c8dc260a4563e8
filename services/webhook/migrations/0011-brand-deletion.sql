-- Set while a brand is being deleted: its events are dropped, and nothing is sent to its receivers. The row goes last.
alter table webhook.brands add column deletion_started_at timestamptz(3);
