-- Lanes with many quotes are kept counted: by day, and by rate. A first answer on such a lane is then made of what it has of
-- different days and rates, not of each of its quotes. A lane is counted from its rows once, when somebody finds that it is
-- large; from then on the transaction that changes its quotes changes these counts, as it does those of the tenant.
create table counted_lanes (
  tenant_id integer not null references tenants,
  origin_key text not null,
  destination_key text not null,
  primary key (tenant_id, origin_key, destination_key)
);
create table lane_days (
  tenant_id integer not null,
  origin_key text not null,
  destination_key text not null,
  equipment_code text not null,
  -- In UTC.
  day date not null,
  won bigint not null,
  lost bigint not null,
  pending bigint not null,
  -- Quotes with a rate above 0, and the sum of their rates that count.
  priced bigint not null,
  rate_sum_cents bigint not null,
  primary key (tenant_id, origin_key, destination_key, equipment_code, day)
);
create table lane_rates (
  tenant_id integer not null,
  origin_key text not null,
  destination_key text not null,
  equipment_code text not null,
  -- The rate that counts.
  rate_cents integer not null,
  won bigint not null,
  lost bigint not null,
  pending bigint not null,
  primary key (tenant_id, origin_key, destination_key, equipment_code, rate_cents)
);

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['counted_lanes', 'lane_days', 'lane_rates'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant_wall on %I for all
         using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)
         with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)',
      tenant_table);
    execute format('grant select, insert, update, delete on %I to lanewise_service', tenant_table);
  end loop;
end $$;

-- Counts a lane from its rows, and has it kept counted. Whoever changes quotes holds the tenant's row of tenant_facts while it
-- counts them and until it commits: with that row in hand, what is to be seen is all there is, and whoever comes after finds
-- the lane counted. Answers whether it was not so before.
create function keep_lane_counted(tenant integer, from_key text, to_key text) returns boolean
  language plpgsql volatile set enable_seqscan = off
  as $$
  begin
    perform from public.tenant_facts where tenant_id = tenant for update;
    if not found then
      return false;
    end if;
    insert into public.counted_lanes values (tenant, from_key, to_key) on conflict do nothing;
    if not found then
      return false;
    end if;
    insert into public.lane_days
    select tenant_id, origin_key, destination_key, equipment_code, (created_at at time zone 'UTC')::date,
      count(*) filter (where outcome = 'won'), count(*) filter (where outcome = 'lost'),
      count(*) filter (where outcome = 'pending'),
      count(*) filter (where coalesce(customer_rate_cents, quoted_rate_cents) > 0),
      sum(coalesce(customer_rate_cents, quoted_rate_cents))
    from public.lanes
    where tenant_id = tenant and origin_key = from_key and destination_key = to_key
    group by 1, 2, 3, 4, 5;
    insert into public.lane_rates
    select tenant_id, origin_key, destination_key, equipment_code, coalesce(customer_rate_cents, quoted_rate_cents),
      count(*) filter (where outcome = 'won'), count(*) filter (where outcome = 'lost'),
      count(*) filter (where outcome = 'pending')
    from public.lanes
    where tenant_id = tenant and origin_key = from_key and destination_key = to_key
    group by 1, 2, 3, 4, 5;
    return true;
  end $$;
revoke all on function keep_lane_counted(integer, text, text) from public;
grant execute on function keep_lane_counted(integer, text, text) to lanewise_service;

-- What a transaction does to the quotes of one tenant by lane, day and rate: lists of origin, destination, equipment, day, rate,
-- and what comes to won, lost and pending. Lanes that are not kept counted are passed over.
create function count_lanes(tenant integer, quotes jsonb) returns void
  language plpgsql volatile set enable_seqscan = off
  as $$
  begin
    perform from public.counted_lanes where tenant_id = tenant limit 1;
    if not found then
      return;
    end if;
    insert into public.lane_days as known
    select counted.tenant_id, counted.origin_key, counted.destination_key, quote ->> 2, (quote ->> 3)::date,
      sum((quote -> 5)::bigint), sum((quote -> 6)::bigint), sum((quote -> 7)::bigint),
      coalesce(sum((quote -> 5)::bigint + (quote -> 6)::bigint + (quote -> 7)::bigint)
        filter (where (quote -> 4)::bigint > 0), 0),
      sum((quote -> 4)::bigint * ((quote -> 5)::bigint + (quote -> 6)::bigint + (quote -> 7)::bigint))
    from public.counted_lanes as counted
    join jsonb_array_elements(quotes) as quote
      on quote ->> 0 = counted.origin_key and quote ->> 1 = counted.destination_key
    where counted.tenant_id = tenant
    group by 1, 2, 3, 4, 5
    on conflict (tenant_id, origin_key, destination_key, equipment_code, day) do update set
      won = known.won + excluded.won,
      lost = known.lost + excluded.lost,
      pending = known.pending + excluded.pending,
      priced = known.priced + excluded.priced,
      rate_sum_cents = known.rate_sum_cents + excluded.rate_sum_cents;
    insert into public.lane_rates as known
    select counted.tenant_id, counted.origin_key, counted.destination_key, quote ->> 2, (quote -> 4)::integer,
      sum((quote -> 5)::bigint), sum((quote -> 6)::bigint), sum((quote -> 7)::bigint)
    from public.counted_lanes as counted
    join jsonb_array_elements(quotes) as quote
      on quote ->> 0 = counted.origin_key and quote ->> 1 = counted.destination_key
    where counted.tenant_id = tenant
    group by 1, 2, 3, 4, 5
    on conflict (tenant_id, origin_key, destination_key, equipment_code, rate_cents) do update set
      won = known.won + excluded.won,
      lost = known.lost + excluded.lost,
      pending = known.pending + excluded.pending;
  end $$;
revoke all on function count_lanes(integer, jsonb) from public;
grant execute on function count_lanes(integer, jsonb) to lanewise_service;

-- As before, and the lanes that are kept counted. A process of the version before says nothing of lanes: then those of its
-- tenant are no longer kept, and are counted from their rows until somebody has them counted again.
create or replace function count_quotes(counts jsonb) returns void
  language plpgsql volatile set enable_seqscan = off
  as $$
  declare
    none constant bigint[] := array_fill(0::bigint, array[31]);
    more jsonb;
    of_tenant integer;
  begin
    for nth in 0 .. jsonb_array_length(counts -> 'months') - 1 loop
      more := counts -> 'months' -> nth;
      update public.quote_months set
        won = case when more ? 'won' then public.added_on_days(won, more -> 'won') else won end,
        lost = case when more ? 'lost' then public.added_on_days(lost, more -> 'lost') else lost end,
        pending = case when more ? 'pending' then public.added_on_days(pending, more -> 'pending') else pending end,
        priced = case when more ? 'priced' then public.added_on_days(priced, more -> 'priced') else priced end,
        rate_sum_cents = case when more ? 'rate_sum_cents'
          then public.added_on_days(rate_sum_cents, more -> 'rate_sum_cents') else rate_sum_cents end
      where tenant_id = (more -> 'tenant_id')::integer and equipment_code = more ->> 'equipment_code'
        and month = (more ->> 'month')::date;
      if not found then
        insert into public.quote_months values (
          (more -> 'tenant_id')::integer, more ->> 'equipment_code', (more ->> 'month')::date,
          public.added_on_days(none, coalesce(more -> 'won', '[]')),
          public.added_on_days(none, coalesce(more -> 'lost', '[]')),
          public.added_on_days(none, coalesce(more -> 'pending', '[]')),
          public.added_on_days(none, coalesce(more -> 'priced', '[]')),
          public.added_on_days(none, coalesce(more -> 'rate_sum_cents', '[]'))
        );
      end if;
    end loop;
    for nth in 0 .. jsonb_array_length(counts -> 'miles') - 1 loop
      more := counts -> 'miles' -> nth;
      update public.quote_miles set
        priced = priced + (more -> 'priced')::bigint,
        rate_sum_cents = rate_sum_cents + (more -> 'rate_sum_cents')::bigint
      where tenant_id = (more -> 'tenant_id')::integer and equipment_code = more ->> 'equipment_code'
        and miles = (more -> 'miles')::double precision;
      if not found then
        insert into public.quote_miles values (
          (more -> 'tenant_id')::integer, more ->> 'equipment_code', (more -> 'miles')::double precision,
          (more -> 'priced')::bigint, (more -> 'rate_sum_cents')::bigint
        );
      end if;
    end loop;
    if counts ? 'lanes' then
      for nth in 0 .. jsonb_array_length(counts -> 'lanes') - 1 loop
        more := counts -> 'lanes' -> nth;
        perform public.count_lanes((more -> 'tenant_id')::integer, more -> 'quotes');
      end loop;
    else
      of_tenant := coalesce(counts #> '{months,0,tenant_id}', counts #> '{miles,0,tenant_id}')::integer;
      delete from public.counted_lanes where tenant_id = of_tenant;
      if found then
        delete from public.lane_days where tenant_id = of_tenant;
        delete from public.lane_rates where tenant_id = of_tenant;
      end if;
    end if;
  end $$;

-- As before, with the places of the lane.
create or replace function find_booking(tenant integer, digest bytea, ref text) returns json
  language plpgsql stable set enable_seqscan = off
  as $$
  declare
    known json;
  begin
    select json_build_object('answer', json_build_object('lane_id', lane_id, 'updated', updated)) into known
    from public.shipment_updates
    where tenant_id = tenant and request_digest = digest;
    if found then
      return known;
    end if;
    select json_build_object('seen', xmin::text, 'lane', json_build_object(
      'lane_id', lane_id, 'origin_key', origin_key, 'destination_key', destination_key,
      'equipment_code', equipment_code, 'quoted_rate_cents', quoted_rate_cents, 'miles', miles,
      'created_at', created_at, 'customer_rate_cents', customer_rate_cents, 'truck_cost_cents', truck_cost_cents,
      'truck_cost_source', truck_cost_source, 'customer_name', customer_name, 'carrier_name', carrier_name,
      'carrier_notes', carrier_notes, 'booked_at', booked_at, 'signed_at', signed_at, 'outcome', outcome,
      'outcome_reason', outcome_reason, 'outcome_source', outcome_source, 'decided_at', decided_at
    )) into known
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    return known;
  end $$;
