-- The role of whoever writes the records: the platform's own backend. docs/platform.md is the contract that goes with it.
--
-- Run it once the records service has started (it makes the tables), as a superuser, or as the tables' owner with the right
-- to make roles; and again after an upgrade: columns that a migration added are writable then. Any number of times.
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f services/records/platform-role.sql
--
-- The role cannot log in: it is given to one that can, so that passwords change and logins come and go without it.
--
--   create role platform_backend login password '…' in role platform;      -- a login of its own
--   grant platform to existing_login;                                      -- or one there is

begin;

do $$
begin
  create role platform nologin;
exception
  -- It is there; or somebody, in another of the server's databases perhaps, makes it at this moment.
  when duplicate_object or unique_violation then null;
end $$;

-- Exactly what follows, whatever it was given before; in one transaction, so a running writer never notices.
revoke all on all tables in schema records from platform;
revoke all on all sequences in schema records from platform;
revoke all on all functions in schema records from platform;
revoke all on schema records from platform;

grant usage on schema records to platform;
grant select on records.status_transitions to platform;

-- Neither delete nor truncate: a record that was once there stays, as integrations have seen it. Not brand_id, id and
-- created_at, by which lists are ordered: the tables refuse that of anybody, but a right that is not there cannot be misused.
do $$
declare
  resource text;
  changing text;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    select string_agg(quote_ident(attname), ', ' order by attnum) into changing
      from pg_attribute
     where attrelid = format('records.%I', resource)::regclass and attnum > 0 and not attisdropped
       and attname not in ('brand_id', 'id', 'created_at');
    execute format('grant select, insert, update (%s) on records.%I to platform', changing, resource);
  end loop;
end $$;

-- The triggers run whoever writes, with their owner's rights where they touch the outbox. Nobody else may call their
-- functions: put as triggers on a temporary table, they would make events of changes that never were. Only their conditions
-- run with the writer's rights, and need is_import.
revoke execute on all functions in schema records from public;
grant execute on function records.is_import() to public;

commit;
