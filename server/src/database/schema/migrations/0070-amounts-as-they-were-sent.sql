-- The engine converts amounts, and the book adds them up, so the database no longer does either: an event stores what its amounts are
-- converted with, and the view and the functions that converted them are dropped (docs/decisions/0057-rate-basis.md).
-- An instance of the version before reads its statistics from the view: stop all of them before the upgrade.

-- Unchanged but for the rates of the day instead of the converted amounts.
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
    rates jsonb;
    fuel_of_brokerage double precision;
    fuel_of_customer double precision;
    exchange_rate double precision;
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
    -- For amounts on two bases or in two currencies: the surcharges and the exchange rate of their day as they are known now. The
    -- event has the margin of that moment, whatever is corrected later. The engine converts with them.
    if of_lane.customer_rate_cents is not null and of_lane.truck_cost_cents is not null and of_lane.voided_at is null
      and (coalesce(of_lane.customer_basis, basis) <> coalesce(of_lane.truck_basis, basis)
        or coalesce(of_lane.customer_currency, 'USD') <> coalesce(of_lane.truck_currency, 'USD')) then
      select mills_per_mile into fuel_of_brokerage from public.fuel_days
      where tenant_id = tenant and day = (of_lane.created_at at time zone 'UTC')::date and customer_key = '';
      select mills_per_mile into fuel_of_customer from public.fuel_days
      where tenant_id = tenant and day = (of_lane.created_at at time zone 'UTC')::date
        and customer_key = public.customer_key(of_lane.quoted_customer_name);
      select usd_per_cad into exchange_rate from public.exchange_days
      where tenant_id = tenant and day = (of_lane.created_at at time zone 'UTC')::date;
      rates := jsonb_build_object('fuel_mills_per_mile', coalesce(fuel_of_customer, fuel_of_brokerage),
        'cost_mills_per_mile', fuel_of_brokerage, 'usd_per_cad', exchange_rate);
    end if;
    event_lane := to_jsonb(of_lane)
      - '{tenant_id, search_text, signed_at, quote_signed_at, outcome_before_booking, import_fingerprint, import_id, origin_key,
          destination_key, origin_state, destination_state, origin_market, destination_market}'::text[]
      || jsonb_build_object('reference', request_reference, 'quoted_by_name', quoted_by, 'default_basis', basis,
        'rates', rates);
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

drop view counted_lanes;
drop function on_basis(integer, text, integer, integer, text);
drop function usd_cents(integer, text, double precision);
drop function fuel_cents(double precision, double precision);

-- Lists of bookings at a loss find them by their ids, from the book.
drop index lanes_at_a_loss;
