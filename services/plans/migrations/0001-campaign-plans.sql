-- Campaign plans, prepared by integrations and assistants, completed or cancelled by people.

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
  status text not null default 'pending' check (status in ('pending', 'completed', 'cancelled')),
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

-- Completed and cancelled are final, whatever writes the table.
create function plans.refuse_reopening() returns trigger language plpgsql as $$
begin
  raise exception 'plan % is % permanently', old.id, old.status using errcode = 'check_violation';
end $$;

create trigger plans_stay_closed before update on plans.plans
  for each row when (
    old.status <> 'pending'
    and (new.status, new.closed_at, new.closed_by) is distinct from (old.status, old.closed_at, old.closed_by)
  )
  execute function plans.refuse_reopening();
