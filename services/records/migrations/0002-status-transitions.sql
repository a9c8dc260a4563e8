-- The status changes that are allowed. All others are refused, except in an import.
create table records.status_transitions (
  resource text not null,
  from_status text not null,
  to_status text not null,
  primary key (resource, from_status, to_status)
);

insert into records.status_transitions (resource, from_status, to_status)
select resource, from_status, unnest(to_statuses) from (values
  ('campaigns', 'draft', array['pending_funding', 'active', 'cancelled']),
  ('campaigns', 'pending_funding', array['draft', 'active', 'cancelled']),
  ('campaigns', 'active', array['paused', 'ended', 'cancelled']),
  ('campaigns', 'paused', array['active', 'ended', 'cancelled']),
  ('campaigns', 'ended', array['settled']),
  ('submissions', 'pending', array['approved', 'rejected', 'withdrawn']),
  -- A corrected review.
  ('submissions', 'approved', array['rejected']),
  ('submissions', 'rejected', array['approved']),
  ('payouts', 'pending', array['processing', 'paid', 'failed', 'cancelled']),
  ('payouts', 'processing', array['paid', 'failed']),
  ('payouts', 'failed', array['processing', 'cancelled']),
  ('payouts', 'paid', array['reversed']),
  ('deposits', 'pending', array['succeeded', 'failed', 'expired']),
  -- Money may arrive after its request expired.
  ('deposits', 'expired', array['succeeded']),
  ('deposits', 'succeeded', array['refunded']),
  ('conversions', 'pending', array['approved', 'reversed']),
  ('conversions', 'approved', array['reversed']),
  ('links', 'active', array['paused', 'disabled', 'expired']),
  ('links', 'paused', array['active', 'disabled', 'expired']),
  ('links', 'disabled', array['active']),
  ('links', 'expired', array['active'])
) as allowed (resource, from_status, to_statuses);

create function records.check_transition() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from records.status_transitions
                  where resource = tg_table_name and from_status = old.status and to_status = new.status) then
    raise exception '% %: status cannot change from % to %', tg_table_name, old.id, old.status, new.status
      using errcode = 'check_violation',
            hint = 'The table records.status_transitions lists the allowed changes; docs/platform.md explains them.';
  end if;
  return new;
end $$;

do $$
declare
  resource text;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    execute format(
      'create trigger %I before update of status on records.%I for each row
         when (old.status is distinct from new.status and not records.is_import())
         execute function records.check_transition()', resource || '_transition', resource);
  end loop;
end $$;
