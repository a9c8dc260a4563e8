-- One value that the API cannot serve breaks every page that holds it: an amount above 2^53 - 1 is no JSON number, the
-- year 20000 and infinity are no RFC 3339 times, and 10 MB of title are more than a message may have. The tables refuse
-- such values whoever writes them. The import (packages/resources) refuses the same or more, with the line and the field.
--
-- Not validated here: this takes its locks for an instant, however large the tables are. 0005 looks at the rows there are.

do $$
declare
  col record;
begin
  for col in
    select c.relname as tab, a.attname as name, a.atttypid as type
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'records'::regnamespace and a.attnum > 0 and not a.attisdropped
       and c.relname in ('campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links')
       and a.atttypid in ('bigint'::regtype, 'timestamptz'::regtype)
  loop
    -- Of the same name: the check that amounts and counts are not negative.
    execute format('alter table records.%I drop constraint if exists %I', col.tab, format('%s_%s_check', col.tab, col.name));
    execute format(
      'alter table records.%I add constraint %I check (%s) not valid', col.tab, format('%s_%s_check', col.tab, col.name),
      case when col.type = 'bigint'::regtype
        then format('%I between 0 and 9007199254740991', col.name)
        else format('%1$I >= ''2000-01-01 00:00:00+00'' and %1$I < ''10000-01-01 00:00:00+00''', col.name)
      end);
  end loop;
end $$;

-- Texts and ids: a page of 200 rows stays below the 8 MiB of a message. The ids' own checks are made anew: the bounded
-- repetition {1,40} took 14 µs a row, this takes 2.
do $$
declare
  col record;
  rule text;
begin
  for col in
    select * from (values
      ('campaigns', 'id', 'id', 'cmp'), ('submissions', 'id', 'id', 'sub'), ('payouts', 'id', 'id', 'po'),
      ('deposits', 'id', 'id', 'dep'), ('conversions', 'id', 'id', 'cnv'), ('links', 'id', 'id', 'lnk'),
      ('campaigns', 'title', 'text', '200'), ('campaigns', 'plan_id', 'id', 'pln'),
      ('submissions', 'campaign_id', 'id', 'cmp'), ('submissions', 'creator_id', 'id', 'crt'), ('submissions', 'payout_id', 'id', 'po'),
      ('submissions', 'platform', 'text', '64'), ('submissions', 'content_url', 'url', null),
      ('payouts', 'campaign_id', 'id', 'cmp'), ('payouts', 'creator_id', 'id', 'crt'),
      ('deposits', 'campaign_id', 'id', 'cmp'), ('deposits', 'reference', 'text', '200'),
      ('conversions', 'campaign_id', 'id', 'cmp'), ('conversions', 'link_id', 'id', 'lnk'), ('conversions', 'creator_id', 'id', 'crt'),
      ('conversions', 'payout_id', 'id', 'po'), ('conversions', 'external_id', 'text', '200'),
      ('links', 'campaign_id', 'id', 'cmp'), ('links', 'creator_id', 'id', 'crt'), ('links', 'code', 'text', '64'),
      ('links', 'url', 'url', null), ('links', 'destination_url', 'url', null)
    ) as columns (tab, name, kind, bound)
  loop
    rule := case col.kind
      when 'id' then format('%1$I ~ %2$L and char_length(%1$I) <= %3$s', col.name, format('^%s_[0-9a-z]+$', col.bound), length(col.bound) + 41)
      when 'text' then format('char_length(%I) between 1 and %s', col.name, col.bound)
      -- http or https, a host, no user name or password, no blanks or control characters. As WEB_URL in packages/resources.
      when 'url' then format('char_length(%1$I) <= 2048 and %1$I ~ %2$L', col.name,
        '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\@\u0001-\u0020\u007f]+([/?#\\][^\u0001-\u0020\u007f]*)?$')
    end;
    execute format('alter table records.%I drop constraint if exists %I', col.tab, format('%s_%s_check', col.tab, col.name));
    execute format('alter table records.%I add constraint %I check (%s) not valid', col.tab, format('%s_%s_check', col.tab, col.name), rule);
  end loop;
end $$;

-- These two columns have the rule under its usual name now.
alter table records.submissions drop constraint submissions_campaign;
alter table records.payouts drop constraint payouts_campaign;

alter table records.campaigns add constraint campaigns_platforms_check check (
  cardinality(platforms) <= 20 and coalesce(array_ndims(platforms), 1) = 1
  and array_position(platforms, null) is null and array_position(platforms, '') is null
  -- No element is longer than 64 characters. One with line breaks could be: all of them together have at most 20 times 64.
  and array_to_string(platforms, E'\n') !~ '[^\n]{65}' and char_length(array_to_string(platforms, '')) <= 1280) not valid;
