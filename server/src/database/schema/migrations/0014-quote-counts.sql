-- A tenant's quotes counted by equipment and day, and by equipment and miles. Lane insight of a lane nobody like it was
-- quoted on is taken from everything the tenant quoted, and reading a million rows for it takes over a second. The
-- transaction that changes quotes changes these counts as its last statement, so they are what its rows say.

-- One row a calendar month (UTC), a number a day of it: a row a day would be nearly as many as quotes for a small tenant.
create table quote_months (
  tenant_id integer not null references tenants,
  equipment_code text not null,
  month date not null,
  won bigint[] not null,
  lost bigint[] not null,
  pending bigint[] not null,
  -- Quotes with a rate above 0, and the sum of their rates that count.
  priced bigint[] not null,
  rate_sum_cents bigint[] not null,
  primary key (tenant_id, equipment_code, month)
);
-- Priced quotes by loaded miles; 0 where those are unknown.
create table quote_miles (
  tenant_id integer not null references tenants,
  equipment_code text not null,
  miles double precision not null,
  priced bigint not null,
  rate_sum_cents bigint not null,
  primary key (tenant_id, equipment_code, miles)
);

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['quote_months', 'quote_miles'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant_wall on %I for all
         using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)
         with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)',
      tenant_table);
    execute format('grant select, insert, update on %I to lanewise_service', tenant_table);
  end loop;
end $$;

-- Two lists of numbers added up, one by one. Most changes leave most lists as they are: those are not taken apart.
create function added_counts(counts bigint[], more bigint[]) returns bigint[]
  language sql immutable
  as $$
    select case when more = array_fill(0::bigint, array[31]) then counts else (
      select array_agg(had + comes order by day) from unnest(counts, more) with ordinality as days (had, comes, day)
    ) end
  $$;

-- Adds to the counts, or takes away: what a transaction does to a tenant's quotes. Its caller holds the tenant's row of
-- tenant_facts, so that no two wait for each other's counts. It works with the rights, and behind the walls, of who asks.
-- (In plpgsql, whose plans are kept from call to call.)
create function add_quote_counts(months jsonb, miles jsonb) returns void
  language plpgsql volatile
  as $$
  #variable_conflict use_column
  begin
    insert into public.quote_months as known
    select more.tenant_id, more.equipment_code, more.month, more.won, more.lost, more.pending, more.priced,
      more.rate_sum_cents
    from jsonb_to_recordset($1) as more (tenant_id integer, equipment_code text, month date, won bigint[],
      lost bigint[], pending bigint[], priced bigint[], rate_sum_cents bigint[])
    on conflict (tenant_id, equipment_code, month) do update set
      won = public.added_counts(known.won, excluded.won),
      lost = public.added_counts(known.lost, excluded.lost),
      pending = public.added_counts(known.pending, excluded.pending),
      priced = public.added_counts(known.priced, excluded.priced),
      rate_sum_cents = public.added_counts(known.rate_sum_cents, excluded.rate_sum_cents);
    insert into public.quote_miles as known
    select more.tenant_id, more.equipment_code, more.miles, more.priced, more.rate_sum_cents
    from jsonb_to_recordset($2) as more (tenant_id integer, equipment_code text, miles double precision,
      priced bigint, rate_sum_cents bigint)
    on conflict (tenant_id, equipment_code, miles) do update set
      priced = known.priced + excluded.priced,
      rate_sum_cents = known.rate_sum_cents + excluded.rate_sum_cents;
  end $$;
revoke all on function added_counts(bigint[], bigint[]) from public;
revoke all on function add_quote_counts(jsonb, jsonb) from public;
grant execute on function added_counts(bigint[], bigint[]) to lanewise_service;
grant execute on function add_quote_counts(jsonb, jsonb) to lanewise_service;

-- The counts of what is there. The walls stand against the owner, too; they are opened for these statements only.
alter table lanes no force row level security;
alter table quote_months no force row level security;
alter table quote_miles no force row level security;
with days as (
  select tenant_id, equipment_code, (created_at at time zone 'UTC')::date as day,
    count(*) filter (where outcome = 'won') as won, count(*) filter (where outcome = 'lost') as lost,
    count(*) filter (where outcome = 'pending') as pending,
    count(*) filter (where coalesce(customer_rate_cents, quoted_rate_cents) > 0) as priced,
    sum(coalesce(customer_rate_cents, quoted_rate_cents))::bigint as rate_sum_cents
  from lanes group by 1, 2, 3
), months as (
  select distinct tenant_id, equipment_code, date_trunc('month', day)::date as month from days
)
insert into quote_months
select months.tenant_id, months.equipment_code, month, array_agg(coalesce(won, 0) order by number),
  array_agg(coalesce(lost, 0) order by number), array_agg(coalesce(pending, 0) order by number),
  array_agg(coalesce(priced, 0) order by number), array_agg(coalesce(rate_sum_cents, 0) order by number)
from months cross join generate_series(0, 30) as number
left join days on days.tenant_id = months.tenant_id and days.equipment_code = months.equipment_code
  and days.day = month + number and date_trunc('month', days.day) = month
group by 1, 2, 3;
insert into quote_miles
select tenant_id, equipment_code, coalesce(miles, 0), count(*), sum(coalesce(customer_rate_cents, quoted_rate_cents))
from lanes
where coalesce(customer_rate_cents, quoted_rate_cents) > 0
group by 1, 2, 3;
alter table quote_miles force row level security;
alter table quote_months force row level security;
alter table lanes force row level security;
