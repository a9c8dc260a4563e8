-- works-with-schema: 11
-- Drops a day's events, deliveries and attempts. Readers and writers of a table wait while a drop waits for an older reader, such as a dump: so one
-- process tries at a time, for a tenth of a second. A refusal is lock_not_available, which release 0.3.0 takes for a lock that it did not get.
create or replace function webhook.drop_day(day date) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  parent text;
begin
  if not pg_try_advisory_xact_lock(hashtext('brand-records webhook drop_day')) then
    raise exception using errcode = 'lock_not_available', message = 'another process drops a day';
  end if;
  foreach parent in array array['attempts', 'events', 'past_deliveries'] loop
    execute format('drop table if exists webhook.%I', parent || '_' || to_char(day, 'YYYYMMDD'));
  end loop;
end $$;
