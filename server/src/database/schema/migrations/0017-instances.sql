-- The instances of the service that work on this database: none of it says anything of a tenant. One that is alone holds
-- the limit of requests by itself; where there are others, each asks here.
create table instances (
  instance_id uuid primary key,
  joined_at timestamptz not null,
  seen_at timestamptz not null
);
grant select, insert, update, delete on instances to lanewise_service;

-- The times of a tenant's last admitted requests, in milliseconds of this database's clock, oldest first. Not logged: what
-- a crash takes is a second old at the most.
create unlogged table tenant_windows (
  tenant_id integer primary key references tenants,
  taken double precision[] not null
) with (fillfactor = 50);
alter table tenant_windows enable row level security;
alter table tenant_windows force row level security;
create policy tenant_wall on tenant_windows for all
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on tenant_windows to lanewise_service;

-- Takes a place in a tenant's window, if there is one: at most so many in any so many milliseconds, exactly. Answers
-- whether it was taken (1 or 0), how many are left, and in how many milliseconds the next one comes free. A place that was
-- given elsewhere is noted in any case.
create function take_place(tenant integer, most integer, window_ms double precision, given boolean) returns double precision[]
  language plpgsql volatile
  as $$
  declare
    held double precision[];
    now_ms double precision;
  begin
    perform set_config('synchronous_commit', 'off', true);
    select taken into held from public.tenant_windows where tenant_id = tenant for update;
    if not found then
      insert into public.tenant_windows values (tenant, '{}') on conflict do nothing;
      select taken into held from public.tenant_windows where tenant_id = tenant for update;
    end if;
    -- Read once the row is ours: whoever waited for it comes after whoever had it.
    now_ms := extract(epoch from clock_timestamp()) * 1000;
    -- A clock that was set back opens nothing: what lies ahead of it counts for one window from now on.
    held := array(select least(at, now_ms) from unnest(held) as at where now_ms - at < window_ms order by at);
    if cardinality(held) >= most and not given then
      return array[0, 0, window_ms - (now_ms - held[1])];
    end if;
    held := held || now_ms;
    held := held[greatest(1, cardinality(held) - most + 1):];
    update public.tenant_windows set taken = held where tenant_id = tenant;
    return array[1, most - cardinality(held), 0];
  end $$;
revoke all on function take_place(integer, integer, double precision, boolean) from public;
grant execute on function take_place(integer, integer, double precision, boolean) to lanewise_service;
