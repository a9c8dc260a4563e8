-- The rows that were there before 0004. While this reads them, records can be read and written. It fails if there are some
-- that the API could not serve, and names them: the release before goes on with what it has, and nothing new comes in.

do $$
declare
  resource text;
  rule record;
  rows text;
  validation text;
  problems text := '';
begin
  foreach resource in array array['campaigns', 'submissions', 'payouts', 'deposits', 'conversions', 'links'] loop
    begin
      -- All of a table at once: from Postgres 18 on, it is read once.
      select format('alter table records.%I ', resource) || string_agg(format('validate constraint %I', conname), ', ' order by conname)
        into validation
        from pg_constraint where conrelid = format('records.%I', resource)::regclass and contype = 'c' and not convalidated;
      -- None is left if somebody validated them by hand after this had failed.
      if validation is not null then execute validation; end if;
    exception when check_violation then
      for rule in
        select conname, pg_get_expr(conbin, conrelid) as condition,
               (select attname from pg_attribute where attrelid = conrelid and attnum = conkey[1]) as column_name
          from pg_constraint where conrelid = format('records.%I', resource)::regclass and contype = 'c' and not convalidated
         order by conname
      loop
        execute format(
          'select string_agg(brand_id || '' '' || id, '', '') from (select brand_id, id from records.%I where not (%s) limit 5) bad',
          resource, rule.condition) into rows;
        if rows is not null then problems := problems || format(E'\n  %s.%s: %s', resource, rule.column_name, rows); end if;
      end loop;
    end;
  end loop;
  if problems <> '' then
    raise exception
      E'there are records whose values cannot be served. Change them (docs/platform.md has the ranges), then start this release again. By column, at most five each, brand and id:%',
      problems using errcode = 'check_violation';
  end if;
end $$;
