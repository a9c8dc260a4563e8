-- works-with-schema: 11
-- A lane is updated with every batch of its results. While an older snapshot is open, as a dump's, all its versions stay: nearly empty pages
-- keep some ten of them behind one index entry, and every look-up and every update visits all entries.
-- docs/decisions/0023-claims-and-first-attempts.md
alter table webhook.lanes set (fillfactor = 10);
