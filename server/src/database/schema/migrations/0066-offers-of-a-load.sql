-- One load, won once: a requote is a further offer for the same load, and at most one offer of a load counts
-- (docs/decisions/0122-one-load-won-once.md). The others have the lane_ref of the offer that counts, and what they say about their rate.
-- An instance of the version before leaves both columns as they are. The next change of an offer of the load sets them.
alter table lanes
  -- The lane_ref of the offer for the same load that counts; null if this one counts, or is void.
  add column superseded_by text,
  -- refused: the customer did not pay this rate, which is evidence for the win curve. replaced: it says nothing about its rate.
  add column superseded_as text;
select make_change_lane();

-- Unchanged but for the two columns at the end.
create or replace view counted_lanes with (security_invoker = true) as
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
  superseded_by, superseded_as
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

-- Returns the other offers for the load, too, if there are any: "offers", a list of {"seen", "lane"}.
create or replace function find_booking(tenant integer, digest bytea, ref text) returns json
  language plpgsql stable set enable_seqscan = off
  as $$
  -- In the database for one round trip: it makes up to three reads, and each depends on the one before. It returns whole rows, so that
  -- it cannot lack a new column.
  declare
    result json;
    others jsonb;
    id bigint;
    request bigint;
    number integer;
  begin
    select json_build_object('answer', json_build_object('lane_id', lane_id, 'updated', updated)) into result
    from public.shipment_updates
    where tenant_id = tenant and request_digest = digest;
    if found then
      return result;
    end if;
    select json_build_object('seen', lanes.xmin::text, 'now', floor(extract(epoch from clock_timestamp()) * 1000),
      'lane', row_to_json(lanes)), lane_id, request_id, lane_number into result, id, request, number
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    if not found then
      return null;
    end if;
    select jsonb_agg(jsonb_build_object('seen', other.xmin::text, 'lane', row_to_json(other))) into others
    from public.lanes as other
    where other.tenant_id = tenant and other.request_id = request and other.lane_number = number and other.lane_id <> id;
    return case when others is null then result else (result::jsonb || jsonb_build_object('offers', others))::json end;
  end $$;

-- With `offers`, the other offers for the load: {"lane_id", "seen"}, and "held" and "change" of those that change with the booking. If
-- one of them changed meanwhile, nothing is written.
create or replace function book_shipment(tenant integer, digest bytea, ref text, booking jsonb) returns json
  language plpgsql volatile set enable_seqscan = off
  as $$
  -- In the database because it must be atomic across connections (two equal requests at once are booked once), in one round
  -- trip: it makes five statements.
  declare
    lane constant bigint := booking ->> 'lane_id';
    expected_version constant text := booking ->> 'seen';
    new_values constant jsonb := booking -> 'held';
    is_expected_version boolean;
    offer jsonb;
    changed_lanes bigint[] := array[lane];
    versions jsonb;
  begin
    -- Equal requests wait for each other. The lock is on the digest, because the first of them has no row to lock. If the
    -- first one changed the lane, the others find another version of the row.
    perform pg_advisory_xact_lock(tenant, (get_byte(digest, 0) << 24) | (get_byte(digest, 1) << 16)
      | (get_byte(digest, 2) << 8) | get_byte(digest, 3));
    if booking ? 'offers' then
      -- The other offers for the load, which the decision read, too. Locked in the order in which every writer locks them.
      perform from public.lanes
      where tenant_id = tenant and (lane_id = lane
        or lane_id in (select (sent ->> 'lane_id')::bigint from jsonb_array_elements(booking -> 'offers') as sent))
      order by lane_id for update;
      select count(*) = jsonb_array_length(booking -> 'offers') into is_expected_version
      from jsonb_array_elements(booking -> 'offers') as sent
      join public.lanes as known on known.tenant_id = tenant and known.lane_id = (sent ->> 'lane_id')::bigint
        and known.xmin = (sent ->> 'seen')::xid;
      if not is_expected_version then
        return public.find_booking(tenant, digest, ref);
      end if;
    end if;
    if new_values is null then
      perform from public.lanes
      where tenant_id = tenant and lane_id = lane and xmin = expected_version::xid
      for update;
      is_expected_version := found;
    else
      is_expected_version :=
        (public.change_lane(tenant, lane, expected_version, new_values, booking -> 'change')).lane_id is not null;
    end if;
    if not is_expected_version then
      return public.find_booking(tenant, digest, ref);
    end if;
    insert into public.shipment_updates (tenant_id, request_digest, lane_id, signed_at, received_at, token_id, carried,
      applied, updated)
    values (tenant, digest, lane, (booking ->> 'signed_at')::timestamptz, (booking ->> 'received_at')::timestamptz,
      (booking ->> 'token_id')::integer, booking -> 'carried', booking -> 'applied', (booking ->> 'updated')::boolean)
    on conflict do nothing;
    if not found then
      if new_values is null then
        return public.find_booking(tenant, digest, ref);
      end if;
      -- The first of two equal requests did not change the lane, so this one found the expected version and changed it.
      -- Their decisions differ because they were made at different times.
      raise exception 'The same request was answered meanwhile.' using errcode = 'serialization_failure';
    end if;
    for offer in select sent from jsonb_array_elements(booking -> 'offers') as sent where sent ? 'held' loop
      perform public.change_lane(tenant, (offer ->> 'lane_id')::bigint, null, offer -> 'held', offer -> 'change');
      changed_lanes := changed_lanes || (offer ->> 'lane_id')::bigint;
    end loop;
    if booking ? 'change' then
      -- An update that changes only signed times makes no new version of the lane.
      versions := public.advance_versions(tenant, 1, 0, changed_lanes);
    end if;
    return json_build_object('booked', true, 'versions', versions);
  end $$;
