-- The fields of a booking are listed once, in engine/src/booking-fields.ts. The functions that read and write a lane name none
-- of them: a column that one of them left out was set to null by the next signed update, without an error.

-- Defines change_lane anew for the columns that lanes has. A migration that adds a column to lanes ends with
-- `select define_change_lane()`. The statement names every column that can change, so that its plan is kept; a statement that
-- was put together from `held` would be planned on every call.
--
-- change_lane writes what a lane holds, with the line of its history, and is the one way to change a lane. `held` has the
-- columns that change; the others keep their values. Without `change` there is no line and no event. With `seen`, the row
-- version that was read, a lane that was changed since is left alone, and the answer is null.
create function define_change_lane() returns void
  language plpgsql volatile
  as $define$
  declare
    -- What is fixed when the lane is made, what change_quote writes, and what change_lane sets itself.
    other constant text[] := '{tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination,
      origin_key, destination_key, origin_state, destination_state, origin_market, destination_market, equipment,
      equipment_code, quoted_customer_name, quoted_rate_cents, estimated_cost_cents, market_rate_cents, miles, pickup_date,
      expected_cost_cents, expected_cost_low_cents, expected_cost_high_cents, created_by, created_at, updated_at, import_id,
      import_fingerprint, import_said}';
    -- PostgreSQL makes search_text anew where a statement sets one of these, even to the same value.
    searched constant text[] := '{customer_name, carrier_name}';
    assignments text;
    besides_searched text;
  begin
    select string_agg(assignment, ', ' order by attnum),
      string_agg(assignment, ', ' order by attnum) filter (where attname <> all (searched))
    into strict assignments, besides_searched
    from pg_catalog.pg_attribute
    cross join lateral format(
      '%1$I = case when held ? %1$L then ' || case when atttypid = 'jsonb'::regtype
        then 'nullif(held -> %1$L, ''null'')' else '(held ->> %1$L)::%2$s' end || ' else known.%1$I end',
      attname, format_type(atttypid, atttypmod)
    ) as assignment
    where attrelid = 'public.lanes'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and attname <> all (other);
    execute format($create$
      create or replace function public.change_lane(tenant integer, lane bigint, seen text, held jsonb, change jsonb)
        returns public.lanes
        language plpgsql volatile set enable_seqscan = off
        as $body$
        declare
          changed public.lanes;
          last integer;
          number integer;
          about jsonb;
          kind text;
          at constant timestamptz := (change ->> 'changed_at')::timestamptz;
        begin
          if held ?| %L then
            update public.lanes as known set %s, updated_at = coalesce(at, known.updated_at)
            where tenant_id = tenant and lane_id = lane and (seen is null or xmin = seen::xid)
            returning * into changed;
          else
            update public.lanes as known set %s, updated_at = coalesce(at, known.updated_at)
            where tenant_id = tenant and lane_id = lane and (seen is null or xmin = seen::xid)
            returning * into changed;
          end if;
          if not found then
            return null;
          end if;
          if change is not null then
            -- This transaction holds the row of the lane, so no other one takes this number.
            select max(change_number) into last from public.lane_changes where tenant_id = tenant and lane_id = lane;
            number := coalesce(last, 0) + 1;
            insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id,
              changed_at, before, after, rolled_back_change, rule)
            values (tenant, lane, number, change ->> 'source', (change ->> 'user_id')::integer,
              (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
              change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer, change ->> 'rule');
            -- Asked first and once: most brokerages have no address, and nothing of an event is put together for them.
            if exists (select from public.event_endpoints where tenant_id = tenant and state = 'active') then
              about := jsonb_build_object('change_number', number, 'source', change -> 'source', 'rule', change -> 'rule',
                'before', change -> 'before', 'after', change -> 'after');
              for kind in select jsonb_array_elements_text(coalesce(change -> 'events', public.events_of(change))) loop
                perform public.announce(tenant, kind, changed, about);
              end loop;
            end if;
          end if;
          return changed;
        end $body$
    $create$, searched, assignments, besides_searched);
  end $define$;

-- The events of a change that a process of the version before made. It knows these fields and does not name the events.
create function events_of(change jsonb) returns jsonb
  language plpgsql immutable
  as $$
  begin
    return to_jsonb(array_remove(array[
      case when change -> 'after' ?| '{customer_rate_cents, truck_cost_cents, customer_name, carrier_name, carrier_notes,
        booked_at, cancelled_at, cancel_reason}' then 'lane.booked' end,
      case when change #>> '{after, cancelled_at}' is not null then 'lane.booking_cancelled' end,
      case when change -> 'after' ?| '{outcome, outcome_reason}' then 'lane.outcome_changed' end
    ], null));
  end $$;
revoke all on function define_change_lane(), events_of(jsonb) from public;
grant execute on function events_of(jsonb) to lanewise_service;

select define_change_lane();

-- As in 0027, with the whole row: what is not read here cannot be forgotten here.
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
    select json_build_object('seen', lanes.xmin::text, 'now', floor(extract(epoch from clock_timestamp()) * 1000),
      'lane', row_to_json(lanes)) into known
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    return known;
  end $$;
