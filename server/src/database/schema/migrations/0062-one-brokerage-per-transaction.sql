-- No transaction spans two brokerages (docs/decisions/0026-bookings.md): removes the functions that did the same
-- work for several tenants in one statement and one commit.
--
-- They go at once, not in a later version, because an instance of the version before needs no replacement: if a batch fails, it
-- sends each call of it alone. Until that instance is replaced, each call costs it one failed message more.
drop function book_shipment_batch(integer[], bytea[], text[], jsonb[]);
drop function find_booking_batch(integer[], bytea[], text[]);
drop function keep_calls_batch(integer[], jsonb[], integer[], timestamptz[]);
drop function note_token_use_batch(integer[], integer[], timestamptz[], text[]);
drop function note_secret_use_batch(integer[], integer[], timestamptz[]);
drop function switch_tenant(integer);

-- The next two are unchanged but for their comments, which named the functions above.
create or replace function note_token_use(tenant integer, token integer, used_at timestamptz, network text) returns void
  language plpgsql volatile
  as $$
  -- In the database so that recording a use is one message instead of three (begin, update, commit). It does not wait for the
  -- disk: a crash may lose the last uses.
  begin
    perform public.commit_without_waiting();
    update public.service_tokens set last_used_at = used_at, last_used_from = network
    where tenant_id = tenant and token_id = token;
  end $$;

create or replace function keep_calls(tenant integer, calls jsonb, kept integer, kept_from timestamptz) returns bigint
  language plpgsql volatile
  as $$
  -- In the database for one round trip instead of four. It does not wait for the disk: a crash may lose the last calls.
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
