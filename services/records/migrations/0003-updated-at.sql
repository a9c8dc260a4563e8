-- Events carry the record's updated_at, and updated_at increases with every change of a record: of two states of a record, the one
-- with the later updated_at is the later one. Until here the two changes of a record in one transaction had the same time, a
-- transaction that began first and committed last set it back, and so did a writer with a slow clock.

-- An import brings its own updated_at, earlier or not: it is not called there.
create or replace function records.touch() returns trigger language plpgsql as $$
begin
  -- The range's last millisecond has no later one. There the time stays, rather than to refuse every later change of the record.
  new.updated_at := greatest(now(), least(old.updated_at + interval '1 ms', '9999-12-31 23:59:59.999+00'));
  return new;
end $$;

do $$
declare
  resource text;
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    -- A writer may set updated_at itself; a value that is not later than the row's is replaced.
    execute format(
      'create or replace trigger %I before update on records.%I for each row
         when (new.updated_at <= old.updated_at and old.* is distinct from new.* and not records.is_import())
         execute function records.touch()', resource || '_touch', resource);
  end loop;
end $$;

-- `create or replace` keeps owner and rights. These run after the row is written, so updated_at is the one that lists return.
create or replace function records.submission_reviewed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('submission.' || new.status, new.brand_id, new.id, json_build_object(
    'resource', 'submissions', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'earned_centavos', new.earned_centavos, 'currency', new.currency,
    'rejection_code', new.rejection_code, 'reviewed_at', records.utc(new.reviewed_at)));
  return null;
end $$;

create or replace function records.payout_paid() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('payout.paid', new.brand_id, new.id, json_build_object(
    'resource', 'payouts', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'amount_centavos', new.amount_centavos, 'fee_centavos', new.fee_centavos,
    'currency', new.currency, 'submission_count', new.submission_count, 'conversion_count', new.conversion_count,
    'paid_at', records.utc(new.paid_at)));
  return null;
end $$;

create or replace function records.campaign_settled() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('campaign.settled', new.brand_id, new.id, json_build_object(
    'resource', 'campaigns', 'id', new.id, 'campaign_id', new.id, 'type', new.type, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'budget_centavos', new.budget_centavos, 'committed_centavos', new.committed_centavos,
    'paid_centavos', new.paid_centavos, 'currency', new.currency, 'settled_at', records.utc(new.settled_at)));
  return null;
end $$;
