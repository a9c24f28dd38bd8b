-- The amounts of lanes in US dollars on the default basis, converted by the database: the form that the engine replaced. Tests compare
-- the engine and the book with it, to the cent.

CREATE OR REPLACE FUNCTION public.usd_cents(cents integer, currency text, usd_per_cad double precision)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  -- In the database because statistics are computed where the rows are.
  select case when currency is null or currency = 'USD' then cents else floor(cents * usd_per_cad + 0.5)::integer end $function$;
revoke all on function usd_cents(integer, text, double precision) from public;
grant execute on function usd_cents(integer, text, double precision) to lanewise_service;

CREATE OR REPLACE FUNCTION public.fuel_cents(mills_per_mile double precision, miles double precision)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  -- In the database because statistics are computed where the rows are.
  select floor(mills_per_mile * miles / 10 + 0.5)::integer $function$;
revoke all on function fuel_cents(double precision, double precision) from public;
grant execute on function fuel_cents(double precision, double precision) to lanewise_service;

CREATE OR REPLACE FUNCTION public.on_basis(cents integer, basis text, fuel integer, accessorials integer, wanted text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  -- In the database because statistics are computed where the rows are.
  -- Each amount is named once: PostgreSQL does not inline a function that names an argument twice if the argument is an
  -- expression, and calling it takes four times as long (152 instead of 36 ms of CPU for 12,000 quotes, most of them converted).
  -- A converted amount is from 1 to 999999999; an amount that is on the basis is returned as it is. The sum of three amounts
  -- can be larger than an integer.
  select nullif(nullif(least(greatest(
    cents::bigint + case when basis is null or basis = wanted then 0
      else (case wanted when 'all_in' then 1 else -1 end) * (fuel::bigint + coalesce(accessorials, 0)) end,
    case when basis is null or basis = wanted then -1 else 0 end),
    case when basis is null or basis = wanted then 2147483647 else 1000000000 end),
    case when basis is null or basis = wanted then -1 else 0 end),
    case when basis is null or basis = wanted then 2147483647 else 1000000000 end)::integer $function$;
revoke all on function on_basis(integer, text, integer, integer, text) from public;
grant execute on function on_basis(integer, text, integer, integer, text) to lanewise_service;

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
grant select on counted_lanes to lanewise_service;
