-- works-with-schema: 3
-- Two changes of one record within a millisecond had ids in either order, and the lists of events sort by id there. After the
-- milliseconds an id now has their fraction, in 12 bits (RFC 9562, 6.2, method 3): enough for the microseconds of a timestamp.

-- `create or replace` keeps owner and rights.
create or replace function records.new_id(prefix text, made_at timestamptz) returns text language sql volatile as $$
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
