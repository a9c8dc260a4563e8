-- works-with-schema: 5
-- The cell that has the brand's records; null: the only one, or the one without a name. docs/decisions/0032-cells.md

alter table accounts.brands add column cell text collate "C" check (cell ~ '^[a-z][a-z0-9-]{0,30}$');
