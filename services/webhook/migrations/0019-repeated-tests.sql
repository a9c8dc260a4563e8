-- works-with-schema: 11
-- When tests were sent again, within a minute before the last of these times: they count towards the limit on tests. Null until the first. A process
-- of release 0.3.0 neither writes nor counts them.
alter table webhook.lanes add column tests_repeated_at timestamptz[];
