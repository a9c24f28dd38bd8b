-- A signed shipment update in two messages instead of ten: one that reads, one that writes all and commits. Each message
-- wakes a process, and each statement in it would be planned anew; the plans of these functions are kept. What an update
-- does to a lane is decided outside, between the two. All of them work with the rights, and behind the walls, of who asks.

-- Adds to the numbers of some days of a month, or takes away: `more` is a list of days, each with what comes to it.
create function added_on_days(counts bigint[], more jsonb) returns bigint[]
  language plpgsql immutable
  as $$
  declare
    day integer;
  begin
    for nth in 0 .. jsonb_array_length(more) - 1 loop
      day := more -> nth -> 0;
      counts[day] := counts[day] + (more -> nth -> 1)::bigint;
    end loop;
    return counts;
  end $$;

-- What a transaction does to the counts of quotes: `months` and `miles` of `counts`. Its caller holds the tenant's row of
-- tenant_facts, so nobody else changes them. One by one: by its key each is found at once, however many rows the planner
-- believes there are, and most changes are of one. (add_quote_counts is what a process of the version before calls.)
create function count_quotes(counts jsonb) returns void
  language plpgsql volatile
  as $$
  declare
    none constant bigint[] := array_fill(0::bigint, array[31]);
    more jsonb;
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
  end $$;

-- Moves a tenant on as the last thing a transaction does: its versions, and what of its quotes is kept counted. Writers of
-- one tenant hold its row only while they commit. Answers the versions it then has.
create function move_tenant(tenant integer, facts integer, access integer, counts jsonb) returns jsonb
  language plpgsql volatile
  as $$
  declare
    won bigint := coalesce((counts ->> 'won_quotes')::bigint, 0);
    decided bigint := coalesce((counts ->> 'decided_quotes')::bigint, 0);
    versions jsonb;
  begin
    update public.tenant_facts as known set
      facts_version = known.facts_version + facts,
      access_version = known.access_version + access,
      won_quotes = known.won_quotes + won,
      decided_quotes = known.decided_quotes + decided,
      changed_in = pg_current_xact_id()
    where tenant_id = tenant
    returning jsonb_build_object('facts', facts_version, 'access', access_version) into versions;
    if not found then
      insert into public.tenant_facts as known (tenant_id, facts_version, access_version, won_quotes, decided_quotes)
      values (tenant, facts, access, won, decided)
      on conflict (tenant_id) do update set
        facts_version = known.facts_version + facts,
        access_version = known.access_version + access,
        won_quotes = known.won_quotes + won,
        decided_quotes = known.decided_quotes + decided,
        changed_in = pg_current_xact_id()
      returning jsonb_build_object('facts', facts_version, 'access', access_version) into versions;
    end if;
    if counts is not null then
      perform public.count_quotes(counts);
    end if;
    return versions;
  end $$;

-- Writes what a lane holds and the line of its audit trail: the one way to change a lane. Without `change` nothing is
-- told. With `seen`, the row version that was read, a lane that is another one by now is left alone, and the answer is null.
create function change_lane(tenant integer, lane bigint, seen text, held jsonb, change jsonb) returns public.lanes
  language plpgsql volatile
  as $$
  declare
    changed public.lanes;
  begin
    update public.lanes as known set
      customer_rate_cents = (held ->> 'customer_rate_cents')::integer,
      truck_cost_cents = (held ->> 'truck_cost_cents')::integer,
      truck_cost_source = held ->> 'truck_cost_source',
      customer_name = held ->> 'customer_name',
      carrier_name = held ->> 'carrier_name',
      carrier_notes = held ->> 'carrier_notes',
      booked_at = (held ->> 'booked_at')::timestamptz,
      signed_at = held -> 'signed_at',
      outcome = held ->> 'outcome',
      outcome_reason = held ->> 'outcome_reason',
      outcome_source = held ->> 'outcome_source',
      decided_at = (held ->> 'decided_at')::timestamptz,
      updated_at = coalesce((change ->> 'changed_at')::timestamptz, known.updated_at)
    where tenant_id = tenant and lane_id = lane and (seen is null or xmin = seen::xid)
    returning * into changed;
    if not found then
      return null;
    end if;
    if change is not null then
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id, changed_at,
        before, after, rolled_back_change)
      select tenant, lane, coalesce(max(change_number), 0) + 1, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, (change ->> 'changed_at')::timestamptz,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer
      from public.lane_changes
      where tenant_id = tenant and lane_id = lane;
    end if;
    return changed;
  end $$;

-- What a signed update is answered from: the answer that the same request was given before, else its lane as it is, with
-- the version of its row. Null where the tenant has no such lane.
create function find_booking(tenant integer, digest bytea, ref text) returns json
  language plpgsql stable
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
      'lane_id', lane_id, 'equipment_code', equipment_code, 'quoted_rate_cents', quoted_rate_cents, 'miles', miles,
      'created_at', created_at, 'customer_rate_cents', customer_rate_cents, 'truck_cost_cents', truck_cost_cents,
      'truck_cost_source', truck_cost_source, 'customer_name', customer_name, 'carrier_name', carrier_name,
      'carrier_notes', carrier_notes, 'booked_at', booked_at, 'signed_at', signed_at, 'outcome', outcome,
      'outcome_reason', outcome_reason, 'outcome_source', outcome_source, 'decided_at', decided_at
    )) into known
    from public.lanes
    where tenant_id = tenant and lane_ref = ref;
    return known;
  end $$;

-- Writes a signed update as it was decided on the lane that was seen, and keeps it on record with its answer. When the
-- same request was answered meanwhile, or the lane is another one by now, nothing is written, and the answer is that of
-- find_booking: to be decided anew. `booking` without `held` leaves the lane as it is.
create function book_shipment(tenant integer, digest bytea, ref text, booking jsonb) returns json
  language plpgsql volatile
  as $$
  declare
    of_lane constant bigint := booking ->> 'lane_id';
    seen constant text := booking ->> 'seen';
    held constant jsonb := booking -> 'held';
    is_as_seen boolean;
    versions jsonb;
  begin
    -- Equal requests take turns. The lock is of the digest, not of a row, because the first of them has no row yet. Where it
    -- changed the lane, the others find another one than they saw.
    perform pg_advisory_xact_lock(tenant, (get_byte(digest, 0) << 24) | (get_byte(digest, 1) << 16)
      | (get_byte(digest, 2) << 8) | get_byte(digest, 3));
    if held is null then
      perform from public.lanes where tenant_id = tenant and lane_id = of_lane and xmin = seen::xid for update;
      is_as_seen := found;
    else
      is_as_seen := (public.change_lane(tenant, of_lane, seen, held, booking -> 'change')).lane_id is not null;
    end if;
    if not is_as_seen then
      return public.find_booking(tenant, digest, ref);
    end if;
    insert into public.shipment_updates (tenant_id, request_digest, lane_id, signed_at, received_at, token_id, carried,
      applied, updated)
    values (tenant, digest, of_lane, (booking ->> 'signed_at')::timestamptz, (booking ->> 'received_at')::timestamptz,
      (booking ->> 'token_id')::integer, booking -> 'carried', booking -> 'applied', (booking ->> 'updated')::boolean)
    on conflict do nothing;
    if not found then
      if held is null then
        return public.find_booking(tenant, digest, ref);
      end if;
      -- It was answered without a change of the lane, by a clock that is behind the one this was decided by.
      raise exception 'The same request was answered meanwhile.' using errcode = 'serialization_failure';
    end if;
    if held is not null then
      versions := public.move_tenant(tenant, 1, 0, booking -> 'counts');
    end if;
    return json_build_object('booked', true, 'versions', versions);
  end $$;

-- When a credential was last used, for people who clean up: in one message and without waiting for the disk. A crash may take
-- the last ones with it.
create function note_token_use(tenant integer, token integer, used_at timestamptz, network text) returns void
  language plpgsql volatile
  as $$
  begin
    perform set_config('synchronous_commit', 'off', true);
    update public.service_tokens set last_used_at = used_at, last_used_from = network
    where tenant_id = tenant and token_id = token;
  end $$;
create function note_secret_use(tenant integer, secret integer, used_at timestamptz) returns void
  language plpgsql volatile
  as $$
  begin
    perform set_config('synchronous_commit', 'off', true);
    update public.signing_secrets set last_used_at = used_at where tenant_id = tenant and secret_id = secret;
  end $$;

revoke all on function added_on_days(bigint[], jsonb), count_quotes(jsonb),
  move_tenant(integer, integer, integer, jsonb), change_lane(integer, bigint, text, jsonb, jsonb),
  find_booking(integer, bytea, text), book_shipment(integer, bytea, text, jsonb),
  note_token_use(integer, integer, timestamptz, text), note_secret_use(integer, integer, timestamptz) from public;
grant execute on function added_on_days(bigint[], jsonb), count_quotes(jsonb),
  move_tenant(integer, integer, integer, jsonb), change_lane(integer, bigint, text, jsonb, jsonb),
  find_booking(integer, bytea, text), book_shipment(integer, bytea, text, jsonb),
  note_token_use(integer, integer, timestamptz, text), note_secret_use(integer, integer, timestamptz) to lanewise_service;
