-- works-with-schema: 5
-- The cell that has the brand's records; null: the only one, or the one without a name. docs/decisions/0032-cells.md

alter table accounts.brands add column cell text collate "C" check (cell ~ '^[a-z][a-z0-9-]{0,30}$');

-- Moves between cells. A brand that is clearing is in its new cell; how far a step got, the mover reads in the cells.
create table accounts.brand_moves (
  brand_id text collate "C" primary key references accounts.brands on delete cascade,
  from_cell text collate "C",
  to_cell text collate "C",
  step text not null default 'copying' check (step in ('copying', 'clearing')),
  started_at timestamptz(3) not null default clock_timestamp()
);
