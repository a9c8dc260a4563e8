-- works-with-schema: 3
-- Records in cells: several databases with this schema, each with some of the brands. Until `become_cell` is called, this one is the only
-- one, and nothing here is used. docs/decisions/0032-cells.md

-- The brands that are here, and those that have just left.
create table records.brands (
  brand_id text collate "C" primary key check (brand_id ~ '^brd_[0-9a-z]{1,40}$'),
  -- closing: writers are refused until `closing_until`, by the clock of this database alone; then the first one opens the brand again.
  state text not null check (state in ('open', 'closing', 'closed')),
  closing_until timestamptz,
  -- The cell that a closed brand is in now; empty: the one without a name.
  moved_to text collate "C",
  check ((state = 'closing') = (closing_until is not null) and (state = 'closed') = (moved_to is not null))
);

-- A condition of pages and of whatever is about one brand. The planner leaves nothing of it: a page costs what it did without. Once this
-- is a cell, it is `require_here`, and sessions make their plans again.
create function records.is_here(brand text) returns boolean language sql immutable as 'select true';

create function records.refuse_brand(moved_to text) returns void language plpgsql as $$
begin
  if moved_to is null then
    raise exception 'brand_moving' using errcode = '55R01', hint = 'Read the brand''s cell again; docs/platform.md has the code.';
  end if;
  raise exception 'brand_moving' using errcode = '55R01', detail = moved_to, hint = 'The detail is the cell that the brand is in now.';
end $$;

-- Also what a writer asks: an update where the brand is not finds no row, and no trigger refuses it.
-- Stable: it has the snapshot of the statement, and so of the page's rows. A closing brand is served, as nothing of it changes.
create function records.require_here(brand text) returns boolean language plpgsql stable as $$
declare
  found_brand records.brands;
begin
  select * into found_brand from records.brands b where b.brand_id = brand;
  if found_brand.state in ('open', 'closing') then return true; end if;
  perform records.refuse_brand(found_brand.moved_to);
end $$;

-- Before the first write of a brand in a transaction; the triggers' conditions skip the others.
create function records.admit_writer() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_brand records.brands;
begin
  -- The id comes before the look: whoever closes the brand after the look waits for the transactions that had ids by then.
  perform pg_current_xact_id();
  if current_setting('transaction_isolation') = 'read committed' then
    select * into found_brand from records.brands b where b.brand_id = new.brand_id;
  else
    -- Its snapshot may be older than the closing. Then the lock fails with 40001.
    select * into found_brand from records.brands b where b.brand_id = new.brand_id for share;
  end if;
  if found_brand.closing_until <= clock_timestamp() then
    -- One row decides between this and the end of a move, whatever the clock does: the second of both finds another state.
    update records.brands b set state = 'open', closing_until = null
     where b.brand_id = new.brand_id and b.closing_until <= clock_timestamp();
    select * into found_brand from records.brands b where b.brand_id = new.brand_id;
  end if;
  if found_brand.state is distinct from 'open' then perform records.refuse_brand(found_brand.moved_to); end if;
  perform set_config('brand_records.admitted', new.brand_id, true);
  return new;
end $$;

-- Makes this database a cell, or lets more brands in: `brands` are here from now on. Only its owner can. Writers of all brands wait while it
-- waits for one of the six tables, so it gives up soon (55P03).
create function records.become_cell(brands text[]) returns void language plpgsql set lock_timeout = '200ms' as $$
declare
  resource text;
begin
  insert into records.brands (brand_id, state) select distinct brand, 'open' from unnest(brands) brand on conflict do nothing;
  perform pg_advisory_xact_lock(hashtextextended('brand-records become_cell', 0));
  if exists (select from pg_trigger where tgname = 'campaigns_cell' and tgrelid = 'records.campaigns'::regclass) then return; end if;
  create or replace function records.is_here(brand text) returns boolean language sql stable as 'select records.require_here(brand)';
  -- It sorts before the other triggers, which may write.
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    execute format(
      'create trigger %I before insert or update on records.%I for each row
         when (current_setting(''brand_records.admitted'', true) is distinct from new.brand_id)
         execute function records.admit_writer()', resource || '_cell', resource);
  end loop;
  -- A release that does not know of cells would serve every brand: from now on it does not start here.
  update records.schema_migrations set works_with = version where version = 4;
end $$;

revoke execute on all functions in schema records from public;
grant execute on function records.is_import(), records.is_here(text), records.require_here(text), records.refuse_brand(text) to public;
grant select on records.brands to public;
