-- A booking can be cancelled. The history of a lane names the rule that changed an outcome without a person, and a lane keeps
-- the outcome from before its booking: a cancellation restores it.

-- A digest of the body under a request_key: a different body under the same key is refused. The tables are altered in the
-- order in which a request writes them.
alter table quote_requests add column request_digest bytea check (length(request_digest) = 32);

alter table lanes add column cancelled_at timestamptz;
alter table lanes add column cancel_reason text;

-- {"outcome", "reason", "source", "decided_at"} from before the booking that won the lane.
alter table lanes add column outcome_before_booking jsonb;

-- The rule by which this change set the outcome; null when a person or a file set it, or when it stayed.
alter table lane_changes add column rule text check (length(rule) between 1 and 50);

-- As in 0020, without outcome_before_booking.
create or replace function announce(tenant integer, kind text, of_lane lanes, about jsonb) returns void
  language plpgsql volatile
  as $$
  declare
    number bigint;
    moment constant timestamptz := clock_timestamp();
  begin
    if not public.is_told(tenant, kind) then
      return;
    end if;
    number := nextval('public.event_number');
    insert into public.events values (
      tenant, number, gen_random_uuid(), kind, of_lane.lane_id, moment,
      about || jsonb_build_object('lane',
        to_jsonb(of_lane) - '{tenant_id, search_text, signed_at, outcome_before_booking, import_fingerprint, import_id,
          origin_key, destination_key, origin_state, destination_state, origin_market, destination_market}'::text[]
        || jsonb_build_object('reference', (
          select reference from public.quote_requests
          where tenant_id = tenant and request_id = of_lane.request_id
        ), 'quoted_by_name', (
          -- The person who imported a lane did not quote it.
          select name from public.users
          where tenant_id = tenant and user_id = of_lane.created_by and of_lane.import_id is null
        )))
    );
    insert into public.event_deliveries (tenant_id, endpoint_id, event_number, lane_id, created_at, next_at)
    select tenant, endpoint_id, number, of_lane.lane_id, moment, moment
    from public.event_endpoints
    where tenant_id = tenant and state = 'active' and kind = any (event_types);
  end $$;

-- As in 0020, with cancellations, the rule of a change, and the outcome from before the booking.
create or replace function change_lane(tenant integer, lane bigint, seen text, held jsonb, change jsonb)
  returns public.lanes
  language plpgsql volatile set enable_seqscan = off
  as $$
  declare
    changed public.lanes;
    last integer;
    number integer;
    about jsonb;
    at constant timestamptz := (change ->> 'changed_at')::timestamptz;
  begin
    update public.lanes as known set
      customer_rate_cents = (held ->> 'customer_rate_cents')::integer,
      truck_cost_cents = (held ->> 'truck_cost_cents')::integer,
      truck_cost_source = held ->> 'truck_cost_source',
      customer_name = held ->> 'customer_name',
      carrier_name = held ->> 'carrier_name',
      carrier_notes = held ->> 'carrier_notes',
      booked_at = (held ->> 'booked_at')::timestamptz,
      cancelled_at = (held ->> 'cancelled_at')::timestamptz,
      cancel_reason = held ->> 'cancel_reason',
      signed_at = held -> 'signed_at',
      outcome = held ->> 'outcome',
      outcome_reason = held ->> 'outcome_reason',
      outcome_source = held ->> 'outcome_source',
      decided_at = (held ->> 'decided_at')::timestamptz,
      outcome_before_booking = nullif(held -> 'outcome_before_booking', 'null'),
      updated_at = coalesce(at, known.updated_at)
    where tenant_id = tenant and lane_id = lane and (seen is null or xmin = seen::xid)
    returning * into changed;
    if not found then
      return null;
    end if;
    if change is not null then
      -- This transaction holds the row of the lane, so no other one takes this number.
      select max(change_number) into last from public.lane_changes where tenant_id = tenant and lane_id = lane;
      number := coalesce(last, 0) + 1;
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id, changed_at,
        before, after, rolled_back_change, rule)
      values (tenant, lane, number, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer, change ->> 'rule');
      about := jsonb_build_object('change_number', number, 'source', change -> 'source', 'rule', change -> 'rule',
        'before', change -> 'before', 'after', change -> 'after');
      if change -> 'after' ?| '{customer_rate_cents, truck_cost_cents, customer_name, carrier_name, carrier_notes, booked_at,
        cancelled_at, cancel_reason}'
      then
        perform public.announce(tenant, 'lane.booked', changed, about);
      end if;
      if change #>> '{after, cancelled_at}' is not null then
        perform public.announce(tenant, 'lane.booking_cancelled', changed, about);
      end if;
      if change -> 'after' ?| '{outcome, outcome_reason}' then
        perform public.announce(tenant, 'lane.outcome_changed', changed, about);
      end if;
    end if;
    return changed;
  end $$;

-- As in 0025, with cancellations and the outcome from before the booking, and with the time of the database's clock in epoch
-- milliseconds: instances whose clocks differ decide by the same clock.
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
    select json_build_object('seen', xmin::text, 'now', floor(extract(epoch from clock_timestamp()) * 1000), 'lane', json_build_object(
      'lane_id', lane_id, 'origin_key', origin_key, 'destination_key', destination_key,
      'equipment_code', equipment_code, 'quoted_rate_cents', quoted_rate_cents, 'miles', miles,
      'created_at', created_at, 'customer_rate_cents', customer_rate_cents, 'truck_cost_cents', truck_cost_cents,
      'truck_cost_source', truck_cost_source, 'customer_name', customer_name, 'carrier_name', carrier_name,
      'carrier_notes', carrier_notes, 'booked_at', booked_at, 'cancelled_at', cancelled_at,
      'cancel_reason', cancel_reason, 'signed_at', signed_at, 'outcome', outcome, 'outcome_reason', outcome_reason, 'outcome_source', outcome_source, 'decided_at', decided_at,
      'outcome_before_booking', outcome_before_booking
    )) into known
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    return known;
  end $$;
