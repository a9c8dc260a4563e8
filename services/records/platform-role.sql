-- The role of the records' writer: the platform's own backend. docs/platform.md is the contract that goes with it.
--
-- Run it after the records service has started (it creates the tables), as a superuser, or as the tables' owner with the right
-- to create roles; and again after an upgrade, which makes columns that a migration added writable. It can run any number of times.
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f services/records/platform-role.sql
--
-- The role cannot log in. Grant it to a login, so that passwords change and logins come and go without it:
--
--   create role platform_backend login password '…' in role platform;      -- a new login
--   grant platform to existing_login;                                      -- or an existing one

begin;

do $$
begin
  create role platform nologin;
exception
  -- The role exists, or another session creates it now, perhaps in another database of the server.
  when duplicate_object or unique_violation then null;
end $$;

-- Replaces all earlier grants. In one transaction, so a running writer never loses its rights.
revoke all on all tables in schema records from platform;
revoke all on all sequences in schema records from platform;
revoke all on all functions in schema records from platform;
revoke all on schema records from platform;

grant usage on schema records to platform;
grant select on records.status_transitions to platform;

-- Every table with a brand_id but `brands` holds records. No delete and no truncate: integrations have seen the record. No update of
-- brand_id, id and created_at, by which lists are ordered: the tables refuse it from every role, but a right that is not granted
-- cannot be misused.
do $$
declare
  resource record;
begin
  for resource in
    select attrelid::regclass as name,
           string_agg(quote_ident(attname), ', ' order by attnum) filter (where attname not in ('brand_id', 'id', 'created_at')) as changing
      from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'records'::regnamespace and relkind = 'r' and relname <> 'brands' and attnum > 0 and not attisdropped
     group by attrelid
    having bool_or(attname = 'brand_id')
  loop
    execute format('grant select, insert, update (%s) on %s to platform', resource.changing, resource.name);
  end loop;
end $$;

-- Triggers run for every writer, with their owner's rights where they write the outbox. No other role may call their functions:
-- as triggers on a temporary table, they would forge events. Only the triggers' conditions run with the writer's rights; they
-- need is_import; and every writer may ask whether a brand is here.
revoke execute on all functions in schema records from public;
grant execute on function records.is_import(), records.is_here(text), records.require_here(text), records.refuse_brand(text) to public;

commit;
