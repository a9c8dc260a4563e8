-- Campaign plans, prepared by integrations and assistants, edited, completed or cancelled by people in the workspace.

-- A row for each brand that has prepared a plan. Making a plan locks the brand's row until the commit, so that the brand's
-- pending plans are counted exactly and no brand waits for another.
create table plans.brand_locks (
  brand_id text collate "C" primary key check (brand_id ~ '^brd_[0-9a-z]{1,40}$')
);

create table plans.plans (
  brand_id text collate "C" not null references plans.brand_locks,
  id text collate "C" not null check (id ~ '^pln_[0-9a-z]{1,40}$'),
  request_id uuid not null,
  -- The input of the request in canonical form. Retries are compared with it, so edits in the workspace leave it unchanged.
  -- It includes the notes: erasing notes means erasing them here, too.
  input jsonb not null,
  -- Name of the key that prepared the plan; null if the caller had none.
  prepared_by text,
  status text not null default 'pending' check (status in ('pending', 'completed', 'cancelled')),
  -- Raised by one with every change; a change names the one it was made on.
  revision integer not null default 1,
  title text not null,
  goal text not null,
  campaign_type text not null check (campaign_type in ('blitz', 'ugc', 'package', 'affiliate')),
  planned_for date not null,
  review_on date not null,
  planning_budget_centavos bigint not null check (planning_budget_centavos between 1 and 100000000000),
  summary text,
  brief text,
  requirements text[] not null default '{}',
  platforms text[] not null default '{}',
  -- Private to the brand: shown in the workspace and nowhere else.
  notes text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- The member who made the last edit, and when.
  edited_at timestamptz(3),
  edited_by text,
  closed_at timestamptz(3),
  closed_by text,
  check ((status = 'pending') = (closed_at is null)),
  check ((closed_at is null) = (closed_by is null)),
  primary key (brand_id, id),
  -- Any number of concurrent requests make one plan.
  unique (brand_id, request_id)
);

create index plans_newest on plans.plans (brand_id, created_at desc, id desc);
create index plans_by_status on plans.plans (brand_id, status, created_at desc, id desc);
-- Operators name a plan by its id, without its brand.
create index plans_id on plans.plans (id);
-- For what operators export and erase of a person.
create index plans_closed_by on plans.plans (closed_by) where closed_by is not null;
create index plans_edited_by on plans.plans (edited_by) where edited_by is not null;

-- Retries are compared with the request, so nothing changes it, whatever writes the table.
create function plans.refuse_new_request() returns trigger language plpgsql as $$
begin
  raise exception 'the request of plan % never changes', old.id using errcode = 'check_violation';
end $$;

create trigger plans_keep_request before update of request_id, input on plans.plans
  for each row when ((new.request_id, new.input) is distinct from (old.request_id, old.input))
  execute function plans.refuse_new_request();

-- Counts changes, whatever writes the table. Who made a change may be erased later, which is no change of the plan.
create function plans.raise_revision() returns trigger language plpgsql as $$
declare
  about_changes constant text[] := '{revision,updated_at,edited_at,edited_by,closed_by}';
begin
  new.revision := old.revision + (to_jsonb(new) - about_changes is distinct from to_jsonb(old) - about_changes)::integer;
  return new;
end $$;

create trigger plans_raise_revision before update on plans.plans
  for each row execute function plans.raise_revision();

-- Completed and cancelled are final, and a closed plan takes no edits, whatever writes the table. Only the addresses of people may be
-- replaced, by a pseudonym.
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

create trigger plans_stay_closed before update on plans.plans
  for each row when (old.status <> 'pending')
  execute function plans.refuse_change_of_closed();
