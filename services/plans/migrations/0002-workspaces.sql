-- Edits in the workspace. Additive: processes of 0.2.0 work beside this release.

alter table plans.plans
  -- Raised by one with every change; a change names the one it was made on.
  add column revision integer not null default 1,
  -- Name of the key that prepared the plan; null for plans of 0.2.0.
  add column prepared_by text,
  -- The member who made the last edit, and when.
  add column edited_by text,
  add column edited_at timestamptz(3);

-- Retries are compared with the request, so nothing changes it, whatever writes the table.
create function plans.refuse_new_request() returns trigger language plpgsql as $$
begin
  raise exception 'the request of plan % never changes', old.id using errcode = 'check_violation';
end $$;

create trigger plans_keep_request before update of request_id, input on plans.plans
  for each row when ((new.request_id, new.input) is distinct from (old.request_id, old.input))
  execute function plans.refuse_new_request();

-- Counts changes, whatever writes the table: the statements of 0.2.0 know no revision. Who made a change may be erased later, which is
-- no change of the plan.
create function plans.raise_revision() returns trigger language plpgsql as $$
declare
  about_changes constant text[] := '{revision,updated_at,edited_at,edited_by,closed_by}';
begin
  new.revision := old.revision + (to_jsonb(new) - about_changes is distinct from to_jsonb(old) - about_changes)::integer;
  return new;
end $$;

create trigger plans_raise_revision before update on plans.plans
  for each row execute function plans.raise_revision();

-- A closed plan takes no edits, either. Only the addresses of people may be replaced, by a pseudonym.
create function plans.refuse_change_of_closed() returns trigger language plpgsql as $$
declare
  people constant text[] := '{closed_by,edited_by}';
begin
  if to_jsonb(new) - people is distinct from to_jsonb(old) - people
    or (new.closed_by is distinct from old.closed_by and not starts_with(coalesce(new.closed_by, ''), 'erased_'))
    or (new.edited_by is distinct from old.edited_by and not starts_with(coalesce(new.edited_by, ''), 'erased_'))
  then
    raise exception 'plan % is % permanently', old.id, old.status using errcode = 'check_violation';
  end if;
  return new;
end $$;

drop trigger plans_stay_closed on plans.plans;
drop function plans.refuse_reopening();

create trigger plans_stay_closed before update on plans.plans
  for each row when (old.status <> 'pending')
  execute function plans.refuse_change_of_closed();
