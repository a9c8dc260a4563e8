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

-- Returns a TypeID: `prefix_` and a UUIDv7 in base32. Ids sort by `made_at`, to the microsecond: after the milliseconds an id has their
-- fraction, in 12 bits (RFC 9562, 6.2, method 3), as the lists of events sort by id within a millisecond.
create function records.new_id(prefix text, made_at timestamptz) returns text language sql volatile as $$
  -- 48 bits of milliseconds, the version, 12 bits of their fraction, then the variant and the random bits of a UUIDv4 (hex digits 17 to 32).
  with time as (select extract(epoch from made_at) * 1000 as ms),
  bits as (
    select ('x00' || lpad(to_hex(floor(ms)::bigint), 12, '0')
                  || '7' || lpad(to_hex(floor((ms - floor(ms)) * 4096)::integer), 3, '0')
                  || substr(replace(gen_random_uuid()::text, '-', ''), 17))::bit(136) as b
      from time)
  select prefix || '_' || string_agg(
           -- 130 bits, five a letter; the first two are zero.
           substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b from 7 + 5 * i for 5)::integer + 1, 1), '' order by i)
    from bits, generate_series(0, 25) i
$$;

create function records.utc(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

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

-- The events of a change. These run after the row is written, so updated_at is the one that lists return.

create function records.submission_reviewed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('submission.' || new.status, new.brand_id, new.id, json_build_object(
    'resource', 'submissions', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'earned_centavos', new.earned_centavos, 'currency', new.currency,
    'rejection_code', new.rejection_code, 'reviewed_at', records.utc(new.reviewed_at)));
  return null;
end $$;

create function records.payout_paid() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('payout.paid', new.brand_id, new.id, json_build_object(
    'resource', 'payouts', 'id', new.id, 'campaign_id', new.campaign_id, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'amount_centavos', new.amount_centavos, 'fee_centavos', new.fee_centavos,
    'currency', new.currency, 'submission_count', new.submission_count, 'conversion_count', new.conversion_count,
    'paid_at', records.utc(new.paid_at)));
  return null;
end $$;

create function records.campaign_settled() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform records.emit('campaign.settled', new.brand_id, new.id, json_build_object(
    'resource', 'campaigns', 'id', new.id, 'campaign_id', new.id, 'type', new.type, 'status', new.status, 'previous_status', old.status,
    'updated_at', records.utc(new.updated_at), 'budget_centavos', new.budget_centavos, 'committed_centavos', new.committed_centavos,
    'paid_centavos', new.paid_centavos, 'currency', new.currency, 'settled_at', records.utc(new.settled_at)));
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

-- A trigger function runs without being granted to the writer. By default every role may execute it, and could attach it to its
-- own table to forge events of any brand.
revoke execute on all functions in schema records from public;
-- WHEN clauses call this one with the rights of the writer.
grant execute on function records.is_import() to public;
