-- From a status change to an event, in one transaction, whoever writes. docs/platform.md is the contract with writers.

-- Events on their way to the log. A row lives from its change's commit until the log has it. Columns as Debezium's outbox
-- event router expects them, so that it can take the relay's place.
create table records.outbox (
  seq bigint generated always as identity primary key,
  id text collate "C" not null,
  aggregatetype text not null,
  aggregateid text not null,
  type text not null,
  payload json not null,
  traceparent text
-- Nearly every row is dead soon: vacuum does not wait for a fifth of the table.
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1,
        autovacuum_vacuum_cost_delay = 0);

-- A TypeID: `prefix_` and a UUIDv7 in base32. Ids sort by the time they were made.
create function records.new_id(prefix text, made_at timestamptz) returns text language sql volatile as $$
  -- The random bytes and the variant of a UUIDv4 (hex digits 14 to 32) behind 48 bits of milliseconds and the version.
  with bits as (
    select ('x00' || lpad(to_hex(floor(extract(epoch from made_at) * 1000)::bigint), 12, '0')
                  || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::bit(136) as b)
  select prefix || '_' || string_agg(
           -- 130 bits, the first two of them zero, five a letter.
           substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b from 7 + 5 * i for 5)::integer + 1, 1), '' order by i)
    from bits, generate_series(0, 25) i
$$;

create function records.utc(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- An import brings history in: what happened long ago is no event, and may have gone any way.
create function records.is_import() returns boolean language sql stable as $$
  select coalesce(current_setting('brand_records.events', true), '') = 'off'
$$;

-- With the rights of the schema's owner: whoever may change a status need not be able to write, or even see, the outbox.
create function records.emit(event_type text, brand_id text, record_id text, data json) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  happened_at timestamptz := clock_timestamp();
  event_id text := records.new_id('evt', happened_at);
  payload json := json_build_object(
    'id', event_id, 'type', event_type, 'created_at', records.utc(happened_at), 'brand_id', brand_id, 'data', data);
begin
  -- Some 600 bytes are usual. One that the log cannot take would hold up all that come after it.
  if octet_length(payload::text) > 16384 then
    raise exception '% %: its event has % bytes, at most 16384 are allowed', event_type, record_id, octet_length(payload::text)
      using errcode = 'check_violation';
  end if;
  insert into records.outbox (id, aggregatetype, aggregateid, type, payload, traceparent)
  values (event_id, split_part(event_type, '.', 1), record_id, event_type, payload,
          nullif(current_setting('brand_records.traceparent', true), ''));
  -- Once per transaction, whatever its size: Postgres drops repetitions.
  perform pg_notify('records_outbox', '');
end $$;

create function records.submission_reviewed() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('submission.' || new.status, new.brand_id, new.id, json_build_object(
    'resource', 'submissions', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'earned_centavos', new.earned_centavos, 'currency', new.currency, 'rejection_code', new.rejection_code,
    'reviewed_at', records.utc(new.reviewed_at)));
  return null;
end $$;

create function records.payout_paid() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('payout.paid', new.brand_id, new.id, json_build_object(
    'resource', 'payouts', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'amount_centavos', new.amount_centavos, 'fee_centavos', new.fee_centavos, 'currency', new.currency,
    'submission_count', new.submission_count, 'conversion_count', new.conversion_count, 'paid_at', records.utc(new.paid_at)));
  return null;
end $$;

create function records.campaign_settled() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('campaign.settled', new.brand_id, new.id, json_build_object(
    'resource', 'campaigns', 'id', new.id, 'campaign_id', new.id, 'type', new.type, 'status', new.status, 'previous_status', old.status,
    'budget_centavos', new.budget_centavos, 'committed_centavos', new.committed_centavos, 'paid_centavos', new.paid_centavos,
    'currency', new.currency, 'settled_at', records.utc(new.settled_at)));
  return null;
end $$;

create trigger submissions_emit after update of status on records.submissions for each row
  when (old.status is distinct from new.status and new.status in ('approved', 'rejected') and not records.is_import())
  execute function records.submission_reviewed();
create trigger payouts_emit after update of status on records.payouts for each row
  when (old.status is distinct from new.status and new.status = 'paid' and not records.is_import())
  execute function records.payout_paid();
create trigger campaigns_emit after update of status on records.campaigns for each row
  when (old.status is distinct from new.status and new.status = 'settled' and not records.is_import())
  execute function records.campaign_settled();

-- Which status may follow which. What is not here is refused, whoever writes; an import is not asked.
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
  -- A review that is corrected.
  ('submissions', 'approved', array['rejected']),
  ('submissions', 'rejected', array['approved']),
  ('payouts', 'pending', array['processing', 'paid', 'failed', 'cancelled']),
  ('payouts', 'processing', array['paid', 'failed']),
  ('payouts', 'failed', array['processing', 'cancelled']),
  ('payouts', 'paid', array['reversed']),
  ('deposits', 'pending', array['succeeded', 'failed', 'expired']),
  -- Money may arrive after its request has expired.
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
    raise exception '% %: from % a status cannot become %', tg_table_name, old.id, old.status, new.status
      using errcode = 'check_violation',
            hint = 'The table records.status_transitions holds what can follow what; docs/platform.md explains it.';
  end if;
  return new;
end $$;

create function records.touch() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
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
    -- Writers may leave updated_at to the database; who sets it is believed.
    execute format(
      'create trigger %I before update on records.%I for each row
         when (old.updated_at = new.updated_at and old.* is distinct from new.* and not records.is_import())
         execute function records.touch()', resource || '_touch', resource);
  end loop;
end $$;

-- Every event names its campaign. Rows that are there already are not looked at.
alter table records.submissions add constraint submissions_campaign check (campaign_id ~ '^cmp_[0-9a-z]{1,40}$') not valid;
alter table records.payouts add constraint payouts_campaign check (campaign_id ~ '^cmp_[0-9a-z]{1,40}$') not valid;

-- A trigger function runs for whoever fires it, without being granted. Granted to everybody, as functions are by default,
-- anybody could put it on a table of their own and make events of any brand.
revoke execute on all functions in schema records from public;
-- But this one is asked by WHEN clauses, with the rights of who writes.
grant execute on function records.is_import() to public;
