-- `set local brand_records.events = false` used to count as on, and sent the events of an import. Now only on and off are
-- taken; unset and empty mean on. Empty is what Postgres leaves in a session after the transaction of a `set local`.
create or replace function records.is_import() returns boolean language plpgsql stable as $$
declare
  setting text := coalesce(current_setting('brand_records.events', true), '');
begin
  if setting in ('', 'on') then return false; end if;
  if setting = 'off' then return true; end if;
  raise exception 'brand_records.events is "%": it must be on or off', setting
    using errcode = 'invalid_parameter_value',
          hint = 'In an import: set local brand_records.events = off. Anywhere else leave it unset. docs/platform.md explains it.';
end $$;
