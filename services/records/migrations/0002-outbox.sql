-- A status change and its event are written in one transaction, by triggers, whatever wrote the change. docs/platform.md is the
-- contract with writers.

-- Events that the log does not have yet. A row exists from the commit of its change until the log has acknowledged it. The
-- columns are those of Debezium's outbox event router, so that it can replace the relay.
create table records.outbox (
  seq bigint generated always as identity primary key,
  id text collate "C" not null,
  aggregatetype text not null,
  aggregateid text not null,
  type text not null,
  payload json not null,
  traceparent text
-- Nearly every row is dead within a second: vacuum must not wait for a fifth of the table.
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1,
        autovacuum_vacuum_cost_delay = 0);

-- Returns a TypeID: `prefix_` and a UUIDv7 in base32. Ids sort by `made_at`.
create function records.new_id(prefix text, made_at timestamptz) returns text language sql volatile as $$
  -- 48 bits of milliseconds, the version, then the random bits and the variant of a UUIDv4 (hex digits 14 to 32).
  with bits as (
    select ('x00' || lpad(to_hex(floor(extract(epoch from made_at) * 1000)::bigint), 12, '0')
                  || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::bit(136) as b)
  select prefix || '_' || string_agg(
           -- 130 bits, five a letter; the first two are zero.
           substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b from 7 + 5 * i for 5)::integer + 1, 1), '' order by i)
    from bits, generate_series(0, 25) i
$$;

create function records.utc(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Whether this transaction is an import: it brings in history, so it emits no events, and any status change is allowed.
-- Unset, empty and `on` mean no. Postgres leaves the setting empty in a session after the transaction of a `set local`. Any
-- other value is refused: `false` would send the events of an import.
create function records.is_import() returns boolean language plpgsql stable as $$
declare
  setting text := coalesce(current_setting('brand_records.events', true), '');
begin
  if setting in ('', 'on') then return false; end if;
  if setting = 'off' then return true; end if;
  raise exception 'brand_records.events is "%": it must be on or off', setting
    using errcode = 'invalid_parameter_value',
          hint = 'In an import: set local brand_records.events = off. Anywhere else leave it unset. docs/platform.md explains it.';
end $$;

-- Writes an event to the outbox. Runs with the rights of the schema's owner, so a writer needs no rights on the outbox.
create function records.emit(event_type text, brand_id text, record_id text, data json) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  happened_at timestamptz := clock_timestamp();
  event_id text := records.new_id('evt', happened_at);
  payload json := json_build_object(
    'id', event_id, 'type', event_type, 'created_at', records.utc(happened_at), 'brand_id', brand_id, 'data', data);
begin
  -- About 600 bytes are usual. An event too large for the log would block all later ones.
  if octet_length(payload::text) > 16384 then
    raise exception '% %: its event has % bytes, at most 16384 are allowed', event_type, record_id, octet_length(payload::text)
      using errcode = 'check_violation';
  end if;
  insert into records.outbox (id, aggregatetype, aggregateid, type, payload, traceparent)
  values (event_id, split_part(event_type, '.', 1), record_id, event_type, payload,
          nullif(current_setting('brand_records.traceparent', true), ''));
  -- Sent once per transaction: Postgres drops duplicates.
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
    -- Writers may leave updated_at to the database; a value they set is kept.
    execute format(
      'create trigger %I before update on records.%I for each row
         when (old.updated_at = new.updated_at and old.* is distinct from new.* and not records.is_import())
         execute function records.touch()', resource || '_touch', resource);
  end loop;
end $$;

-- A trigger function runs without being granted to the writer. By default every role may execute it, and could attach it to its
-- own table to forge events of any brand.
revoke execute on all functions in schema records from public;
-- WHEN clauses call this one with the rights of the writer.
grant execute on function records.is_import() to public;
