-- What a distributed PostgreSQL (Citus) needs to be told, and what is as good on any other. Rows of a tenant lie together on
-- one of its workers; the node that is asked plans, and hands on.

-- Says to the workers, too, what holds for this transaction: they ask their own walls. SET LOCAL is handed on to them,
-- set_config is not; and only where it is said within a statement of a function, hence a function of its own.
create function hand_on_wall(tenant text, lock_ms integer) returns void
  language plpgsql volatile
  as $$
  begin
    execute format('set local app.tenant_id = %L', tenant);
    execute format('set local lock_timeout = %L', lock_ms);
  end $$;

-- Opens the wall of a tenant for this transaction, and sets how long it may take. Answers the tenant.
create function enter_tenant(tenant text, statement_ms integer, lock_ms integer, idle_ms integer) returns text
  language plpgsql volatile
  as $$
  begin
    perform set_config('app.tenant_id', tenant, true), set_config('statement_timeout', statement_ms::text, true),
      set_config('lock_timeout', lock_ms::text, true),
      set_config('idle_in_transaction_session_timeout', idle_ms::text, true);
    if current_setting('citus.propagate_set_commands', true) is not null then
      perform set_config('citus.propagate_set_commands', 'local', true);
      perform public.hand_on_wall(tenant, lock_ms);
    end if;
    return tenant;
  end $$;

-- As before; but what becomes of a row is answered in columns, and the transaction is named before: the one whose end the
-- feed of changes waits for is that of the node that was asked.
create or replace function move_tenant(tenant integer, facts integer, access integer, counts jsonb) returns jsonb
  language plpgsql volatile
  as $$
  declare
    won bigint := coalesce((counts ->> 'won_quotes')::bigint, 0);
    decided bigint := coalesce((counts ->> 'decided_quotes')::bigint, 0);
    this_transaction constant xid8 := pg_current_xact_id();
    facts_now bigint;
    access_now bigint;
  begin
    update public.tenant_facts as known set
      facts_version = known.facts_version + facts,
      access_version = known.access_version + access,
      won_quotes = known.won_quotes + won,
      decided_quotes = known.decided_quotes + decided,
      changed_in = this_transaction
    where tenant_id = tenant
    returning facts_version, access_version into facts_now, access_now;
    if not found then
      insert into public.tenant_facts as known
        (tenant_id, facts_version, access_version, won_quotes, decided_quotes, changed_in)
      values (tenant, facts, access, won, decided, this_transaction)
      on conflict (tenant_id) do update set
        facts_version = known.facts_version + facts,
        access_version = known.access_version + access,
        won_quotes = known.won_quotes + won,
        decided_quotes = known.decided_quotes + decided,
        changed_in = this_transaction
      returning facts_version, access_version into facts_now, access_now;
    end if;
    if counts is not null then
      perform public.count_quotes(counts);
    end if;
    return jsonb_build_object('facts', facts_now, 'access', access_now);
  end $$;

-- As before; but rows to insert are selected from the row of their tenant, so that the worker does it that holds them.
create or replace function note_integration_calls(tenant integer, calls jsonb) returns bigint
  language plpgsql volatile
  as $$
  declare
    last bigint;
    count integer := jsonb_array_length(calls);
  begin
    -- A crash may take the last calls with it, as it does those that wait in memory: they are no record.
    perform set_config('synchronous_commit', 'off', true);
    insert into public.tenant_counters as known (tenant_id, counter, last_number) values (tenant, 'call', count)
    on conflict (tenant_id, counter) do update set last_number = known.last_number + count
    returning last_number into last;
    insert into public.integration_calls (
      tenant_id, call_id, called_at, operation, method, path, query, status, problem, detail, request_id, token_id,
      duration_ms, network, not_kept
    )
    select one.tenant_id, last - count + call.nth, call.called_at, call.operation, call.method, call.path, call.query,
      call.status, call.problem, call.detail, call.request_id, token.token_id, call.duration_ms, call.network, call.not_kept
    from public.tenants as one
    cross join rows from (jsonb_to_recordset(calls) as (
      called_at timestamptz, operation text, method text, path text, query text, status smallint,
      problem text, detail text, request_id uuid, jti uuid, duration_ms double precision, network text, not_kept integer
    )) with ordinality as call (called_at, operation, method, path, query, status, problem, detail, request_id, jti,
      duration_ms, network, not_kept, nth)
    left join public.service_tokens as token on token.tenant_id = one.tenant_id and token.jti = call.jti
    where one.tenant_id = tenant;
    return last;
  end $$;

create or replace function change_lane(tenant integer, lane bigint, seen text, held jsonb, change jsonb) returns public.lanes
  language plpgsql volatile
  as $$
  declare
    changed public.lanes;
    last integer;
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
      signed_at = held -> 'signed_at',
      outcome = held ->> 'outcome',
      outcome_reason = held ->> 'outcome_reason',
      outcome_source = held ->> 'outcome_source',
      decided_at = (held ->> 'decided_at')::timestamptz,
      updated_at = coalesce(at, known.updated_at)
    where tenant_id = tenant and lane_id = lane and (seen is null or xmin = seen::xid)
    returning * into changed;
    if not found then
      return null;
    end if;
    if change is not null then
      -- Whoever changes the lane holds its row: nobody else takes this number.
      select max(change_number) into last from public.lane_changes where tenant_id = tenant and lane_id = lane;
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id, changed_at,
        before, after, rolled_back_change)
      values (tenant, lane, coalesce(last, 0) + 1, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer);
    end if;
    return changed;
  end $$;

-- As before, in the language whose parameters a distributed table may be asked with. The workers' rows are looked at after
-- the snapshot of the asking statement was taken, and a worker commits before the node that was asked: all that this
-- snapshot takes for ended is seen.
create or replace function changed_tenants(since xid8)
  returns table (tenant_id integer, facts_version bigint, access_version bigint)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  begin
    return query
      select known.tenant_id, known.facts_version, known.access_version
      from public.tenant_facts as known where known.changed_in >= since;
  end $$;

revoke all on function enter_tenant(text, integer, integer, integer), hand_on_wall(text, integer) from public;
grant execute on function enter_tenant(text, integer, integer, integer), hand_on_wall(text, integer) to lanewise_service;
