-- Bookings: the signed updates of shipments, and the history of every lane.

-- Every signed update that was acknowledged, whether it changed the lane or not, by the digest of the exact request: the
-- same request again gets the same answer. The service can only add rows.
create table shipment_updates (
  tenant_id integer not null,
  request_digest bytea not null check (length(request_digest) = 32),
  lane_id bigint not null,
  signed_at timestamptz not null,
  received_at timestamptz not null,
  token_id integer not null,
  -- The fields that the update carried, and the names of those that were applied.
  carried jsonb not null,
  applied jsonb not null,
  updated boolean not null,
  primary key (tenant_id, request_digest),
  foreign key (tenant_id, lane_id) references lanes
);
create index shipment_updates_by_lane on shipment_updates (tenant_id, lane_id, received_at);
alter table shipment_updates enable row level security;
alter table shipment_updates force row level security;
create policy tenant_isolation on shipment_updates
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert on shipment_updates to lanewise_service;

-- The history of a lane: its audit trail. The service can only add rows.
create table lane_changes (
  tenant_id integer not null,
  lane_id bigint not null,
  change_number integer not null,
  -- `lanewise`: the service itself.
  source text not null check (source in ('dashboard', 'tms', 'import', 'lanewise')),
  user_id integer,
  token_id integer,
  import_id integer,
  changed_at timestamptz not null,
  -- The columns that changed, with their values.
  before jsonb not null,
  after jsonb not null,
  rolled_back_change integer,
  -- The rule that set the outcome in this change. Null if a person or a file set it, or if it stayed the same.
  rule text check (length(rule) between 1 and 50),
  primary key (tenant_id, lane_id, change_number),
  foreign key (tenant_id, lane_id) references lanes,
  foreign key (tenant_id, user_id) references users
);
-- Undoing an import visits the lanes that the import changed in the order of lane_id.
create index lane_changes_by_import on lane_changes (tenant_id, import_id, lane_id) where import_id is not null;
alter table lane_changes enable row level security;
alter table lane_changes force row level security;
create policy tenant_isolation on lane_changes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert on lane_changes to lanewise_service;

-- Changes the booking or the outcome of a lane, and records the change in the lane's history with its events. No other
-- code writes these columns. `new_values` has the columns that change; the other columns keep their values. If `change` is
-- null, nothing is recorded. If `expected_version` (the xmin that find_booking returned) is given and the row was changed
-- since, nothing is written and the result is null.
create function change_lane(tenant integer, lane bigint, expected_version text, new_values jsonb, change jsonb)
  returns lanes
  language plpgsql volatile set enable_seqscan = off
  as $$
  -- In the database because book_shipment calls it, and one round trip changes the lanes of a whole batch. The lane, its
  -- history and its events are written together, so no change lacks its record.
  --
  -- A new column of lanes that a booking can change belongs in both updates below (in the second one, unless search_text
  -- contains it). server/src/endpoints/integration/booking-fields.test.ts fails if one is missing. The statements list every column,
  -- so that their plans are cached: PostgreSQL would plan a statement with only the columns of `new_values` on every call.
  declare
    changed public.lanes;
    previous_number integer;
    number integer;
    about jsonb;
    kind text;
    -- Converted here, because Citus refuses an update with a cast to a time in a CASE.
    at constant timestamptz := (change ->> 'changed_at')::timestamptz;
    new_booked_at constant timestamptz := (new_values ->> 'booked_at')::timestamptz;
    new_cancelled_at constant timestamptz := (new_values ->> 'cancelled_at')::timestamptz;
    new_decided_at constant timestamptz := (new_values ->> 'decided_at')::timestamptz;
    new_voided_at constant timestamptz := (new_values ->> 'voided_at')::timestamptz;
  begin
    if new_values ?| '{customer_name, carrier_name}' then
      update public.lanes as known set
        customer_rate_cents = case when new_values ? 'customer_rate_cents'
          then (new_values ->> 'customer_rate_cents')::integer else known.customer_rate_cents end,
        truck_cost_cents = case when new_values ? 'truck_cost_cents'
          then (new_values ->> 'truck_cost_cents')::integer else known.truck_cost_cents end,
        truck_cost_source = case when new_values ? 'truck_cost_source'
          then new_values ->> 'truck_cost_source' else known.truck_cost_source end,
        customer_name = case when new_values ? 'customer_name'
          then new_values ->> 'customer_name' else known.customer_name end,
        carrier_name = case when new_values ? 'carrier_name'
          then new_values ->> 'carrier_name' else known.carrier_name end,
        carrier_notes = case when new_values ? 'carrier_notes'
          then new_values ->> 'carrier_notes' else known.carrier_notes end,
        booked_at = case when new_values ? 'booked_at'
          then new_booked_at else known.booked_at end,
        customer_basis = case when new_values ? 'customer_basis'
          then new_values ->> 'customer_basis' else known.customer_basis end,
        customer_fuel_cents = case when new_values ? 'customer_fuel_cents'
          then (new_values ->> 'customer_fuel_cents')::integer else known.customer_fuel_cents end,
        customer_accessorials_cents = case when new_values ? 'customer_accessorials_cents'
          then (new_values ->> 'customer_accessorials_cents')::integer else known.customer_accessorials_cents end,
        customer_currency = case when new_values ? 'customer_currency'
          then new_values ->> 'customer_currency' else known.customer_currency end,
        customer_charges = case when new_values ? 'customer_charges'
          then new_values ->> 'customer_charges' else known.customer_charges end,
        truck_basis = case when new_values ? 'truck_basis'
          then new_values ->> 'truck_basis' else known.truck_basis end,
        truck_fuel_cents = case when new_values ? 'truck_fuel_cents'
          then (new_values ->> 'truck_fuel_cents')::integer else known.truck_fuel_cents end,
        truck_accessorials_cents = case when new_values ? 'truck_accessorials_cents'
          then (new_values ->> 'truck_accessorials_cents')::integer else known.truck_accessorials_cents end,
        truck_currency = case when new_values ? 'truck_currency'
          then new_values ->> 'truck_currency' else known.truck_currency end,
        truck_charges = case when new_values ? 'truck_charges'
          then new_values ->> 'truck_charges' else known.truck_charges end,
        cancelled_at = case when new_values ? 'cancelled_at'
          then new_cancelled_at else known.cancelled_at end,
        cancel_reason = case when new_values ? 'cancel_reason'
          then new_values ->> 'cancel_reason' else known.cancel_reason end,
        signed_at = case when new_values ? 'signed_at'
          then nullif(new_values -> 'signed_at', 'null') else known.signed_at end,
        outcome = case when new_values ? 'outcome'
          then new_values ->> 'outcome' else known.outcome end,
        outcome_reason = case when new_values ? 'outcome_reason'
          then new_values ->> 'outcome_reason' else known.outcome_reason end,
        outcome_source = case when new_values ? 'outcome_source'
          then new_values ->> 'outcome_source' else known.outcome_source end,
        decided_at = case when new_values ? 'decided_at'
          then new_decided_at else known.decided_at end,
        outcome_before_booking = case when new_values ? 'outcome_before_booking'
          then nullif(new_values -> 'outcome_before_booking', 'null') else known.outcome_before_booking end,
        voided_at = case when new_values ? 'voided_at'
          then new_voided_at else known.voided_at end,
        void_reason = case when new_values ? 'void_reason'
          then new_values ->> 'void_reason' else known.void_reason end,
        updated_at = coalesce(at, known.updated_at)
      where tenant_id = tenant and lane_id = lane and (expected_version is null or xmin = expected_version::xid)
      returning * into changed;
    else
      -- Without the columns of search_text: PostgreSQL recomputes it if the statement names one of them (about 40 us).
      update public.lanes as known set
        customer_rate_cents = case when new_values ? 'customer_rate_cents'
          then (new_values ->> 'customer_rate_cents')::integer else known.customer_rate_cents end,
        truck_cost_cents = case when new_values ? 'truck_cost_cents'
          then (new_values ->> 'truck_cost_cents')::integer else known.truck_cost_cents end,
        truck_cost_source = case when new_values ? 'truck_cost_source'
          then new_values ->> 'truck_cost_source' else known.truck_cost_source end,
        carrier_notes = case when new_values ? 'carrier_notes'
          then new_values ->> 'carrier_notes' else known.carrier_notes end,
        booked_at = case when new_values ? 'booked_at'
          then new_booked_at else known.booked_at end,
        customer_basis = case when new_values ? 'customer_basis'
          then new_values ->> 'customer_basis' else known.customer_basis end,
        customer_fuel_cents = case when new_values ? 'customer_fuel_cents'
          then (new_values ->> 'customer_fuel_cents')::integer else known.customer_fuel_cents end,
        customer_accessorials_cents = case when new_values ? 'customer_accessorials_cents'
          then (new_values ->> 'customer_accessorials_cents')::integer else known.customer_accessorials_cents end,
        customer_currency = case when new_values ? 'customer_currency'
          then new_values ->> 'customer_currency' else known.customer_currency end,
        customer_charges = case when new_values ? 'customer_charges'
          then new_values ->> 'customer_charges' else known.customer_charges end,
        truck_basis = case when new_values ? 'truck_basis'
          then new_values ->> 'truck_basis' else known.truck_basis end,
        truck_fuel_cents = case when new_values ? 'truck_fuel_cents'
          then (new_values ->> 'truck_fuel_cents')::integer else known.truck_fuel_cents end,
        truck_accessorials_cents = case when new_values ? 'truck_accessorials_cents'
          then (new_values ->> 'truck_accessorials_cents')::integer else known.truck_accessorials_cents end,
        truck_currency = case when new_values ? 'truck_currency'
          then new_values ->> 'truck_currency' else known.truck_currency end,
        truck_charges = case when new_values ? 'truck_charges'
          then new_values ->> 'truck_charges' else known.truck_charges end,
        cancelled_at = case when new_values ? 'cancelled_at'
          then new_cancelled_at else known.cancelled_at end,
        cancel_reason = case when new_values ? 'cancel_reason'
          then new_values ->> 'cancel_reason' else known.cancel_reason end,
        signed_at = case when new_values ? 'signed_at'
          then nullif(new_values -> 'signed_at', 'null') else known.signed_at end,
        outcome = case when new_values ? 'outcome'
          then new_values ->> 'outcome' else known.outcome end,
        outcome_reason = case when new_values ? 'outcome_reason'
          then new_values ->> 'outcome_reason' else known.outcome_reason end,
        outcome_source = case when new_values ? 'outcome_source'
          then new_values ->> 'outcome_source' else known.outcome_source end,
        decided_at = case when new_values ? 'decided_at'
          then new_decided_at else known.decided_at end,
        outcome_before_booking = case when new_values ? 'outcome_before_booking'
          then nullif(new_values -> 'outcome_before_booking', 'null') else known.outcome_before_booking end,
        voided_at = case when new_values ? 'voided_at'
          then new_voided_at else known.voided_at end,
        void_reason = case when new_values ? 'void_reason'
          then new_values ->> 'void_reason' else known.void_reason end,
        updated_at = coalesce(at, known.updated_at)
      where tenant_id = tenant and lane_id = lane and (expected_version is null or xmin = expected_version::xid)
      returning * into changed;
    end if;
    if not found then
      return null;
    end if;
    if change is not null then
      -- The update locked the row of the lane, so no other transaction uses this number.
      select max(change_number) into previous_number from public.lane_changes where tenant_id = tenant and lane_id = lane;
      number := coalesce(previous_number, 0) + 1;
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id,
        changed_at, before, after, rolled_back_change, rule)
      values (tenant, lane, number, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer, change ->> 'rule');
      -- Most tenants have no event endpoint. This check saves building the event for them.
      if exists (select from public.event_endpoints where tenant_id = tenant and state <> 'removed') then
        about := jsonb_build_object('change_number', number, 'source', change -> 'source', 'rule', change -> 'rule',
          'before', change -> 'before', 'after', change -> 'after');
        for kind in select jsonb_array_elements_text(change -> 'events') loop
          perform public.announce(tenant, kind, changed, about);
        end loop;
      end if;
    end if;
    return changed;
  end $$;
revoke all on function change_lane(integer, bigint, text, jsonb, jsonb) from public;
grant execute on function change_lane(integer, bigint, text, jsonb, jsonb) to lanewise_service;

-- Returns the answer of a signed update that was acknowledged before, {"answer": {...}}, or else its lane:
-- {"seen": the version of the row, "now": the database's clock in epoch milliseconds, "lane": the row}. Null if there is
-- no lane with this reference.
create function find_booking(tenant integer, digest bytea, ref text) returns json
  language plpgsql stable set enable_seqscan = off
  as $$
  -- In the database for one round trip: it makes two reads, and the second depends on the first. It returns the whole row,
  -- so that it cannot lack a new column.
  declare
    result json;
  begin
    select json_build_object('answer', json_build_object('lane_id', lane_id, 'updated', updated)) into result
    from public.shipment_updates
    where tenant_id = tenant and request_digest = digest;
    if found then
      return result;
    end if;
    select json_build_object('seen', lanes.xmin::text, 'now', floor(extract(epoch from clock_timestamp()) * 1000),
      'lane', row_to_json(lanes)) into result
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    return result;
  end $$;
revoke all on function find_booking(integer, bytea, text) from public;
grant execute on function find_booking(integer, bytea, text) to lanewise_service;

create function find_booking_batch(tenants integer[], digests bytea[], refs text[]) returns json
  language plpgsql volatile
  as $$
  -- In the database for one round trip for several tenants (see switch_tenant).
  declare
    results json[] := '{}';
  begin
    for nth in 1 .. cardinality(tenants) loop
      perform public.switch_tenant(tenants[nth]);
      results[nth] := json_build_array(public.find_booking(tenants[nth], digests[nth], refs[nth]));
    end loop;
    return array_to_json(results);
  end $$;
revoke all on function find_booking_batch(integer[], bytea[], text[]) from public;
grant execute on function find_booking_batch(integer[], bytea[], text[]) to lanewise_service;

-- Writes a signed update that was decided on the lane of find_booking: the lane, its history and events, the record of the
-- request, and the tenant's versions. Returns {"booked": true, "versions": ...}. If the same request was acknowledged
-- meanwhile, or the lane changed, it writes nothing and returns the result of find_booking, for a new decision. A
-- `booking` without `held` does not change the lane.
create function book_shipment(tenant integer, digest bytea, ref text, booking jsonb) returns json
  language plpgsql volatile set enable_seqscan = off
  as $$
  -- In the database because it must be atomic across connections (two equal requests at once are booked once), in one round
  -- trip: it makes five statements.
  declare
    lane constant bigint := booking ->> 'lane_id';
    expected_version constant text := booking ->> 'seen';
    new_values constant jsonb := booking -> 'held';
    is_expected_version boolean;
    versions jsonb;
  begin
    -- Equal requests wait for each other. The lock is on the digest, because the first of them has no row to lock. If the
    -- first one changed the lane, the others find another version of the row.
    perform pg_advisory_xact_lock(tenant, (get_byte(digest, 0) << 24) | (get_byte(digest, 1) << 16)
      | (get_byte(digest, 2) << 8) | get_byte(digest, 3));
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
    if booking ? 'change' then
      -- An update that changes only signed times makes no new version of the lane.
      versions := public.advance_versions(tenant, 1, 0, array[lane]);
    end if;
    return json_build_object('booked', true, 'versions', versions);
  end $$;
revoke all on function book_shipment(integer, bytea, text, jsonb) from public;
grant execute on function book_shipment(integer, bytea, text, jsonb) to lanewise_service;

create function book_shipment_batch(tenants integer[], digests bytea[], refs text[], bookings jsonb[]) returns json
  language plpgsql volatile
  as $$
  -- In the database for one round trip and one commit for several tenants (see switch_tenant).
  declare
    results json[] := '{}';
  begin
    for nth in 1 .. cardinality(tenants) loop
      perform public.switch_tenant(tenants[nth]);
      begin
        results[nth] := json_build_array(
          public.book_shipment(tenants[nth], digests[nth], refs[nth], bookings[nth])
        );
      exception when others then
        results[nth] := null;
      end;
    end loop;
    return array_to_json(results);
  end $$;
revoke all on function book_shipment_batch(integer[], bytea[], text[], jsonb[]) from public;
grant execute on function book_shipment_batch(integer[], bytea[], text[], jsonb[]) to lanewise_service;
