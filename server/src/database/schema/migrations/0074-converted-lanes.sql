-- The amounts of every load in US dollars on the default basis. Before, the view that converts them had direct truckloads only, so that
-- a booked load of another mode, or with stops, whose AR and AP are on two bases or in two currencies had no margin.
-- Unchanged but for its name and the condition, which is the view counted_lanes now.
create view converted_lanes with (security_invoker = true) as
select
  tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination, origin_key,
  destination_key, origin_state, destination_state, origin_market, destination_market, equipment, equipment_code,
  quoted_customer_name,
  case when quoted_basis is null and quoted_currency is null then quoted_rate_cents
    else on_basis(usd_cents(quoted_rate_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as quoted_rate_cents,
  case when quoted_basis is null and quoted_currency is null then estimated_cost_cents
    else on_basis(usd_cents(estimated_cost_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as estimated_cost_cents,
  usd_cents(market_rate_cents, quoted_currency, usd_per_cad) as market_rate_cents,
  miles, pickup_date,
  case when outcome <> 'expired' then outcome
    when expired_counts_as_lost then 'lost'
    else 'pending' end as outcome,
  outcome_reason, outcome_source, decided_at,
  case when customer_basis is null and customer_currency is null then customer_rate_cents
    else on_basis(usd_cents(customer_rate_cents, customer_currency, usd_per_cad), customer_basis,
      coalesce(usd_cents(customer_fuel_cents, customer_currency, usd_per_cad), rate_fuel),
      usd_cents(customer_accessorials_cents, customer_currency, usd_per_cad), wanted)
    end as customer_rate_cents,
  case when truck_basis is null and truck_currency is null then truck_cost_cents
    else on_basis(usd_cents(truck_cost_cents, truck_currency, usd_per_cad), truck_basis,
      coalesce(usd_cents(truck_fuel_cents, truck_currency, usd_per_cad), cost_fuel),
      usd_cents(truck_accessorials_cents, truck_currency, usd_per_cad), wanted)
    end as truck_cost_cents,
  truck_cost_source,
  customer_name, carrier_name, carrier_notes, booked_at,
  customer_basis, customer_fuel_cents, customer_accessorials_cents, truck_basis, truck_fuel_cents, truck_accessorials_cents,
  quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, customer_currency, truck_currency, quoted_currency,
  customer_charges, truck_charges, quoted_charges,
  signed_at, created_by, created_at, updated_at, import_id,
  import_fingerprint,
  -- An expected cost beside a rate that says no basis moves with the default basis, as that rate does.
  case when quoted_basis is null or expected_basis is null or expected_basis = wanted then expected_cost_cents
    else on_basis(expected_cost_cents, expected_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), cost_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted)
    end as expected_cost_cents,
  expected_cost_low_cents, expected_cost_high_cents, expected_basis, search_text,
  customer_key, cancelled_at, cancel_reason, outcome_before_booking, import_said, external_id, rep_name, rate_type, valid_until,
  quote_signed_at, voided_at, void_reason, advice, counter_rate_cents,
  -- How amounts on the other basis or in the other currency were converted.
  case when cad_day is not null then 'exchange' when fuel_day is not null then 'schedule'
    when quoted_basis <> wanted or customer_basis <> wanted or truck_basis <> wanted then 'charges' end as converted_by,
  superseded_by, superseded_as, mode, stops
from (
  select lanes.*, usd_per_cad,
    fuel_cents(coalesce(of_customer.mills_per_mile, of_brokerage.mills_per_mile), miles) as rate_fuel,
    fuel_cents(of_brokerage.mills_per_mile, miles) as cost_fuel
  -- Joins: for a subquery, Citus would ask every worker instead of the tenant's.
  from (
    select lanes.*, expired_counts_as_lost, wanted,
      -- Null if no fuel charge or exchange rate is wanted: then no row is looked up.
      case when (quoted_basis <> wanted and quoted_fuel_cents is null)
        or (customer_basis <> wanted and customer_fuel_cents is null and customer_rate_cents is not null)
        or (truck_basis <> wanted and truck_fuel_cents is null and truck_cost_cents is not null)
        then (created_at at time zone 'UTC')::date end as fuel_day,
      case when quoted_currency = 'CAD' or (customer_currency = 'CAD' and customer_rate_cents is not null)
        or (truck_currency = 'CAD' and truck_cost_cents is not null)
        then (created_at at time zone 'UTC')::date end as cad_day
    from lanes join (
      select tenant_id as owner_id, expired_counts_as_lost, default_basis as wanted from tenants
    ) as owners on owner_id = tenant_id
  ) as lanes
  left join fuel_days as of_brokerage
    on of_brokerage.tenant_id = lanes.tenant_id and of_brokerage.day = fuel_day and of_brokerage.customer_key = ''
  left join fuel_days as of_customer
    on of_customer.tenant_id = lanes.tenant_id and of_customer.day = fuel_day
      and of_customer.customer_key = case when fuel_day is null then null
        when customer_name is null then lanes.customer_key else customer_key(quoted_customer_name) end
      and of_customer.customer_key <> ''
  left join exchange_days as exchange on exchange.tenant_id = lanes.tenant_id and exchange.day = cad_day
) as lanes
where voided_at is null and (
  coalesce(quoted_basis, customer_basis, truck_basis, quoted_currency, customer_currency, truck_currency) is null or (
  on_basis(usd_cents(quoted_rate_cents, quoted_currency, usd_per_cad), quoted_basis,
      coalesce(usd_cents(quoted_fuel_cents, quoted_currency, usd_per_cad), rate_fuel),
      usd_cents(quoted_accessorials_cents, quoted_currency, usd_per_cad), wanted) is not null
  and (customer_rate_cents is null
    or on_basis(usd_cents(customer_rate_cents, customer_currency, usd_per_cad), customer_basis,
      coalesce(usd_cents(customer_fuel_cents, customer_currency, usd_per_cad), rate_fuel),
      usd_cents(customer_accessorials_cents, customer_currency, usd_per_cad), wanted) is not null)
  and (truck_cost_cents is null
    or on_basis(usd_cents(truck_cost_cents, truck_currency, usd_per_cad), truck_basis,
      coalesce(usd_cents(truck_fuel_cents, truck_currency, usd_per_cad), cost_fuel),
      usd_cents(truck_accessorials_cents, truck_currency, usd_per_cad), wanted) is not null)
));
grant select on converted_lanes to lanewise_service;

-- The lanes that statistics count (docs/decisions/0126-direct-truckloads.md).
create or replace view counted_lanes with (security_invoker = true) as
select * from converted_lanes where coalesce(mode, 'truckload') = 'truckload' and stops is null;

-- Unchanged but for the view that it reads.
CREATE OR REPLACE FUNCTION public.announce(tenant integer, kind text, of_lane lanes, about jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  -- In the database because change_lane calls it within the transaction of the change. Citus allows no subquery in the
  -- values of an insert, so each value is read into a variable first.
  declare
    moment constant timestamptz := clock_timestamp();
    new_number bigint;
    new_id constant uuid := gen_random_uuid();
    request_reference text;
    quoted_by text;
    basis text;
    landed jsonb;
    event_lane jsonb;
    subscriber integer;
  begin
    if not public.has_subscriber(tenant, kind) then
      return;
    end if;
    select reference into request_reference from public.quote_requests
    where tenant_id = tenant and request_id = of_lane.request_id;
    -- The person who imported a lane did not quote it.
    if of_lane.import_id is null then
      select name into quoted_by from public.users where tenant_id = tenant and user_id = of_lane.created_by;
    end if;
    select default_basis into basis from public.tenants where tenant_id = tenant;
    -- Amounts on two bases or in two currencies, as the fuel schedule and the exchange rate of their day convert them now. The
    -- event has the margin of that moment, whatever is corrected later.
    if of_lane.customer_rate_cents is not null and of_lane.truck_cost_cents is not null
      and (coalesce(of_lane.customer_basis, basis) <> coalesce(of_lane.truck_basis, basis)
        or coalesce(of_lane.customer_currency, 'USD') <> coalesce(of_lane.truck_currency, 'USD')) then
      select jsonb_build_object('revenue_cents', customer_rate_cents, 'cost_cents', truck_cost_cents) into landed
      from public.converted_lanes
      where tenant_id = tenant and lane_id = of_lane.lane_id
        and customer_rate_cents is not null and truck_cost_cents is not null;
    end if;
    event_lane := to_jsonb(of_lane)
      - '{tenant_id, search_text, signed_at, quote_signed_at, outcome_before_booking, import_fingerprint, import_id, origin_key,
          destination_key, origin_state, destination_state, origin_market, destination_market}'::text[]
      || jsonb_build_object('reference', request_reference, 'quoted_by_name', quoted_by, 'default_basis', basis,
        'landed', landed);
    about := about || jsonb_build_object('lane', event_lane);
    new_number := nextval('public.event_number');
    insert into public.events (tenant_id, event_number, event_id, type, lane_id, occurred_at, about)
    values (tenant, new_number, new_id, kind, of_lane.lane_id, moment, announce.about);
    -- One by one: Citus plans an insert from a query for every shard, and locks them all.
    for subscriber in
      select endpoint_id from public.event_endpoints
      where tenant_id = tenant and (state in ('active', 'paused') or disabled_reason = 'failing')
        and kind = any (event_types)
      order by endpoint_id
    loop
      insert into public.event_deliveries (tenant_id, endpoint_id, event_number, lane_id, created_at, next_at)
      values (tenant, subscriber, new_number, of_lane.lane_id, moment, moment);
    end loop;
  end $function$;
