-- Writes down calls of a tenant, in one message instead of four: the log of calls works beside the answers, and each message
-- wakes a process. Their numbers follow on from the last ones: the counter's row is the lock, so that a reader never sees a
-- later number before an earlier one. Answers the last number. It works with the rights, and behind the walls, of who asks.
create function note_integration_calls(tenant integer, calls jsonb) returns bigint
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
    select tenant, last - count + call.nth, called_at, operation, method, path, query, status, problem, detail,
      request_id, (select token_id from public.service_tokens as token where token.tenant_id = tenant and token.jti = call.jti),
      duration_ms, network, not_kept
    from rows from (jsonb_to_recordset(calls) as (
      called_at timestamptz, operation text, method text, path text, query text, status smallint,
      problem text, detail text, request_id uuid, jti uuid, duration_ms double precision, network text, not_kept integer
    )) with ordinality as call (called_at, operation, method, path, query, status, problem, detail, request_id, jti,
      duration_ms, network, not_kept, nth);
    return last;
  end $$;
revoke all on function note_integration_calls(integer, jsonb) from public;
grant execute on function note_integration_calls(integer, jsonb) to lanewise_service;
