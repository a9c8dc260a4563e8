-- works-with-schema: 11
-- Partitions are made and dropped with the rights of the schema's owner, so the service may use a login that owns nothing.

alter function webhook.ensure_day(date) security definer set search_path = pg_catalog, pg_temp;

-- Drops a day's events, deliveries and attempts. Waits half a second at most: new readers of a table wait meanwhile.
create function webhook.drop_day(day date) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
  parent text;
begin
  foreach parent in array array['attempts', 'events', 'past_deliveries'] loop
    execute format('drop table if exists webhook.%I', parent || '_' || to_char(day, 'YYYYMMDD'));
  end loop;
end $$;

-- By default every role may execute a function.
revoke execute on function webhook.ensure_day(date), webhook.drop_day(date) from public;
