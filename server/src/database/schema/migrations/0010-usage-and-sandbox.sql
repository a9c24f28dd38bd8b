-- Use of the integration interface: the log of recent calls, and the windows of the request limits.

-- The last calls of each tenant, so that an admin can see what arrived and why it was refused. The log is for debugging: it
-- is written in batches after the responses, and old rows are deleted.
create table integration_calls (
  tenant_id integer not null references tenants,
  call_id bigint not null,
  called_at timestamptz not null,
  operation text not null,
  method text not null,
  path text not null,
  query text check (length(query) <= 300),
  status smallint not null,
  problem text,
  detail text check (length(detail) <= 2000),
  request_id uuid not null,
  token_id integer,
  duration_ms double precision not null,
  network text not null,
  -- How many earlier calls were not logged.
  not_kept integer not null check (not_kept >= 0),
  primary key (tenant_id, call_id),
  foreign key (tenant_id, token_id) references service_tokens
);
alter table integration_calls enable row level security;
alter table integration_calls force row level security;
create policy tenant_isolation on integration_calls
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on integration_calls to lanewise_service;

-- Logs calls, and returns the number of the last one. If `kept` is not null, deletes all but the newest `kept` calls, and
-- the calls from before `kept_from`. Numbers follow the order of time, so the oldest calls have the lowest numbers.
create function keep_calls(tenant integer, calls jsonb, kept integer, kept_from timestamptz) returns bigint
  language plpgsql volatile
  as $$
  -- In the database for one round trip instead of four, and for the batch below. It does not wait for the disk: a crash may
  -- lose the last calls.
  declare
    last bigint;
    first_kept bigint;
    call record;
    count constant integer := jsonb_array_length(calls);
  begin
    perform public.commit_without_waiting();
    -- This row is the lock: a reader never sees a call before it sees all calls with lower numbers.
    insert into public.tenant_counters as known (tenant_id, counter, last_number) values (tenant, 'call', count)
    on conflict (tenant_id, counter) do update set last_number = known.last_number + count
    returning last_number into last;
    -- One by one: Citus plans an insert from a query for every shard, and locks them all. The calls are read from the row of
    -- the tenant, so that on Citus the tenant's worker reads them.
    for call in
      select sent.*, token.token_id
      from public.tenants as one
      cross join rows from (jsonb_to_recordset(calls) as (
        called_at timestamptz, operation text, method text, path text, query text, status smallint,
        problem text, detail text, request_id uuid, jti uuid, duration_ms double precision, network text, not_kept integer
      )) with ordinality as sent (called_at, operation, method, path, query, status, problem, detail, request_id, jti,
        duration_ms, network, not_kept, nth)
      left join public.service_tokens as token on token.tenant_id = one.tenant_id and token.jti = sent.jti
      where one.tenant_id = tenant
      order by sent.nth
    loop
      insert into public.integration_calls (
        tenant_id, call_id, called_at, operation, method, path, query, status, problem, detail, request_id, token_id,
        duration_ms, network, not_kept
      )
      values (tenant, last - count + call.nth, call.called_at, call.operation, call.method, call.path, call.query,
        call.status, call.problem, call.detail, call.request_id, call.token_id, call.duration_ms, call.network,
        call.not_kept);
    end loop;
    if kept is not null then
      select call_id into first_kept from public.integration_calls
      where tenant_id = tenant and called_at >= kept_from
      order by call_id limit 1;
      delete from public.integration_calls
      where tenant_id = tenant and call_id < greatest(coalesce(first_kept, last), last - kept + 1);
    end if;
    return last;
  end $$;
revoke all on function keep_calls(integer, jsonb, integer, timestamptz) from public;
grant execute on function keep_calls(integer, jsonb, integer, timestamptz) to lanewise_service;

create function keep_calls_batch(tenants integer[], calls jsonb[], kept integer[], kept_from timestamptz[]) returns json
  language plpgsql volatile
  as $$
  -- In the database for one round trip and one commit for several tenants (see switch_tenant).
  declare
    results json[] := '{}';
  begin
    for nth in 1 .. cardinality(tenants) loop
      perform public.switch_tenant(tenants[nth]);
      begin
        results[nth] := json_build_array(public.keep_calls(tenants[nth], calls[nth], kept[nth], kept_from[nth]));
      exception when others then
        results[nth] := null;
      end;
    end loop;
    return array_to_json(results);
  end $$;
revoke all on function keep_calls_batch(integer[], jsonb[], integer[], timestamptz[]) from public;
grant execute on function keep_calls_batch(integer[], jsonb[], integer[], timestamptz[]) to lanewise_service;

-- The times of a tenant's last admitted requests, oldest first, in epoch milliseconds of the database's clock. Unlogged: a
-- crash loses at most the last second. On Citus the table stays on the coordinator: a shard with an unlogged table cannot
-- move while it is written, and a permit then takes no message to a worker. So it cannot reference tenants.
create unlogged table tenant_windows (
  tenant_id integer primary key,
  taken double precision[] not null
) with (fillfactor = 50);
alter table tenant_windows enable row level security;
alter table tenant_windows force row level security;
create policy tenant_isolation on tenant_windows
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on tenant_windows to lanewise_service;

-- Takes a permit of a tenant's sliding window: at most `max_count` requests in any `window_ms`. Returns whether the request
-- is admitted (1 or 0), how many permits remain, and in how many milliseconds the next one is free. A request that was
-- already admitted elsewhere is always counted.
create function take_permit(tenant integer, max_count integer, window_ms double precision, already_admitted boolean)
  returns double precision[]
  language plpgsql volatile
  as $$
  -- In the database because the limit must be atomic across the connections of all instances, by one clock, in one round
  -- trip.
  declare
    times double precision[];
    now_ms double precision;
  begin
    perform public.commit_without_waiting();
    select taken into times from public.tenant_windows where tenant_id = tenant for update;
    if not found then
      insert into public.tenant_windows values (tenant, '{}') on conflict do nothing;
      select taken into times from public.tenant_windows where tenant_id = tenant for update;
    end if;
    -- Read after the row is locked: a request that waited for the lock is later than the one that held it.
    now_ms := extract(epoch from clock_timestamp()) * 1000;
    -- If the clock was set back, times in the future count for one window from now, so this does not reset the limit.
    times := array(select least(at, now_ms) from unnest(times) as at where now_ms - at < window_ms order by at);
    if cardinality(times) >= max_count and not already_admitted then
      return array[0, 0, window_ms - (now_ms - times[1])];
    end if;
    times := times || now_ms;
    times := times[greatest(1, cardinality(times) - max_count + 1):];
    update public.tenant_windows set taken = times where tenant_id = tenant;
    return array[1, max_count - cardinality(times), 0];
  end $$;
revoke all on function take_permit(integer, integer, double precision, boolean) from public;
grant execute on function take_permit(integer, integer, double precision, boolean) to lanewise_service;

-- Erases the next rows of a test brokerage, at most `most` of each table, and returns how many, and the lanes among them:
-- {"rows": 12, "lanes": [7, 8]}. Tokens, secrets, people, teams, event addresses, settings and the audit log are kept.
create function erase_sandbox_rows(sandbox integer, most integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, public
  as $$
  -- In the database because the service has no right to delete the history of a lane: security definer, so that it can
  -- delete that of a test brokerage and of no other: it must be the tenant of the transaction, and two rows of tenants must
  -- agree that it is a test brokerage.
  declare
    erased integer := 0;
    counted integer;
    gone_lanes bigint[];
    gone bigint[];
  begin
    if sandbox is distinct from nullif(current_setting('app.tenant_id', true), '')::integer
      or not exists (select from public.tenants where tenant_id = sandbox and sandbox_of is not null)
      or not exists (
        select from public.tenants
        where tenant_id = (select sandbox_of from public.tenants where tenant_id = sandbox) and sandbox_id = sandbox
      )
    then
      raise exception 'not a test brokerage';
    end if;
    gone_lanes := array(
      select lane_id from public.lanes where tenant_id = sandbox order by lane_id limit most for update
    );
    delete from public.market_rates where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.team_customers where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customer_aliases where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customer_distinctions where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customers where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.pilot_entries where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.pilots where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.calibration_checks where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.approvals where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.shipment_updates where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.lane_changes where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.lanes where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    gone := array(select event_number from public.events where tenant_id = sandbox order by event_number limit most);
    delete from public.event_deliveries where tenant_id = sandbox and event_number = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.events where tenant_id = sandbox and event_number = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    gone := array(select call_id from public.integration_calls where tenant_id = sandbox order by call_id limit most);
    delete from public.integration_calls where tenant_id = sandbox and call_id = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    if cardinality(gone_lanes) < most then
      gone := array(
        select request_id from public.quote_requests
        where tenant_id = sandbox and not exists (
          select from public.lanes where tenant_id = sandbox and lanes.request_id = quote_requests.request_id
        )
        order by request_id limit most
      );
      delete from public.quote_requests where tenant_id = sandbox and request_id = any(gone);
      get diagnostics counted = row_count;
      erased := erased + counted;
      if not exists (select from public.quote_requests where tenant_id = sandbox) then
        delete from public.imports where tenant_id = sandbox and status not in ('running', 'undoing');
        get diagnostics counted = row_count;
        erased := erased + counted;
      end if;
    end if;
    return jsonb_build_object('rows', erased, 'lanes', to_jsonb(gone_lanes));
  end $$;
revoke all on function erase_sandbox_rows(integer, integer) from public;
grant execute on function erase_sandbox_rows(integer, integer) to lanewise_service;
