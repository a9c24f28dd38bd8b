-- The outbound feed of events. An event is written down in the transaction of the change that it tells of, with a delivery
-- for each address that asked for its kind: no committed change is lost, and none is told of that was not committed.
-- Where nobody asked, nothing is written. The sending goes on behind, by what is written here.

-- Whether the service was last started with events: a command that writes beside it does as the service does.
alter table installation add column events boolean not null default false;
grant update (events) on installation to lanewise_service;

-- Counts over all brokerages, so that no writer waits for another one. It is shown to nobody: an event is named by its id.
create sequence event_number;
grant usage on sequence event_number to lanewise_service;

-- Where a brokerage wants to be told. `disabled` by the service, and why; `removed` until its last delivery is cleaned up.
create table event_endpoints (
  tenant_id integer not null references tenants,
  endpoint_id integer not null,
  url text not null check (length(url) <= 2000),
  description text check (length(description) <= 200),
  event_types text[] not null,
  state text not null check (state in ('active', 'paused', 'disabled', 'removed')),
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  created_by integer not null,
  created_at timestamptz not null,
  primary key (tenant_id, endpoint_id),
  foreign key (tenant_id, created_by) references users (tenant_id, user_id)
);

-- What deliveries are signed with, sealed as the signing secrets are. After a rotation both sign until the old one ends.
create table event_secrets (
  tenant_id integer not null,
  secret_id integer not null,
  endpoint_id integer not null,
  sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, secret_id),
  foreign key (tenant_id, endpoint_id) references event_endpoints
);

-- What happened: the lane as it then was, and what of it changed. `lane_id` is null for a test.
create table events (
  tenant_id integer not null references tenants,
  event_number bigint not null,
  event_id uuid not null,
  type text not null,
  lane_id bigint,
  occurred_at timestamptz not null,
  about jsonb not null,
  primary key (tenant_id, event_number),
  unique (tenant_id, event_id)
);

-- One event on its way to one address. While it is being sent `next_at` lies ahead of it: after a crash it comes due again.
create table event_deliveries (
  tenant_id integer not null,
  endpoint_id integer not null,
  event_number bigint not null,
  lane_id bigint,
  state text not null default 'due' check (state in ('due', 'delivered', 'dead')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  next_at timestamptz not null,
  attempted_at timestamptz,
  settled_at timestamptz,
  response_status integer,
  response_text text check (length(response_text) <= 500),
  failure text check (length(failure) <= 500),
  duration_ms double precision,
  primary key (tenant_id, endpoint_id, event_number),
  foreign key (tenant_id, endpoint_id) references event_endpoints,
  foreign key (tenant_id, event_number) references events
) with (fillfactor = 80);
create index event_deliveries_due on event_deliveries (tenant_id, endpoint_id, next_at, event_number) where state = 'due';
create index event_deliveries_by_lane on event_deliveries (tenant_id, endpoint_id, lane_id, event_number)
  where state = 'due';
create index event_deliveries_by_event on event_deliveries (tenant_id, event_number);
create index event_deliveries_dead on event_deliveries (tenant_id, event_number) where state = 'dead';
create index event_deliveries_by_age on event_deliveries (created_at);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['event_endpoints', 'event_secrets', 'events', 'event_deliveries'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant_wall on %I for all
         using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)
         with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)',
      tenant_table
    );
  end loop;
end
$$;
grant select, insert, update, delete on event_endpoints, event_secrets, event_deliveries to lanewise_service;
grant select, insert, delete on events to lanewise_service;

-- Whether anybody wants to be told of events of a type.
create function is_told(tenant integer, kind text) returns boolean
  language plpgsql stable
  as $$
  begin
    if not (select installation.events from public.installation) then
      return false;
    end if;
    return exists (
      select from public.event_endpoints
      where tenant_id = tenant and state = 'active' and kind = any (event_types)
    );
  end $$;

-- Writes down an event of a lane, if an active address of the brokerage asked for its type.
create function announce(tenant integer, kind text, of_lane lanes, about jsonb) returns void
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
        to_jsonb(of_lane) - '{tenant_id, search_text, signed_at, import_fingerprint, import_id, origin_key,
          destination_key, origin_state, destination_state, origin_market, destination_market}'::text[]
        || jsonb_build_object('reference', (
          select reference from public.quote_requests
          where tenant_id = tenant and request_id = of_lane.request_id
        ), 'quoted_by_name', (
          -- Who imported a lane has not quoted it.
          select name from public.users
          where tenant_id = tenant and user_id = of_lane.created_by and of_lane.import_id is null
        )))
    );
    insert into public.event_deliveries (tenant_id, endpoint_id, event_number, lane_id, created_at, next_at)
    select tenant, endpoint_id, number, of_lane.lane_id, moment, moment
    from public.event_endpoints
    where tenant_id = tenant and state = 'active' and kind = any (event_types);
  end $$;

-- Writes down that quotes were made. Asked with the last statement of the transaction that made them.
create function announce_quotes(tenant integer, quoted bigint[]) returns void
  language plpgsql volatile
  as $$
  declare
    quote public.lanes;
  begin
    if not public.is_told(tenant, 'quote.created') then
      return;
    end if;
    for quote in
      select * from public.lanes where tenant_id = tenant and lane_id = any (quoted)
      order by lane_number, quote_count
    loop
      perform public.announce(tenant, 'quote.created', quote, '{}');
    end loop;
  end $$;

-- As in 0019, and it writes down the events of the change: the one way to change a lane is the one place that tells of it.
create or replace function change_lane(tenant integer, lane bigint, seen text, held jsonb, change jsonb)
  returns public.lanes
  language plpgsql volatile
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
      number := coalesce(last, 0) + 1;
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id, changed_at,
        before, after, rolled_back_change)
      values (tenant, lane, number, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer);
      about := jsonb_build_object('change_number', number, 'source', change -> 'source', 'before', change -> 'before',
        'after', change -> 'after');
      if change -> 'after' ?| '{customer_rate_cents, truck_cost_cents, customer_name, carrier_name, carrier_notes, booked_at}'
      then
        perform public.announce(tenant, 'lane.booked', changed, about);
      end if;
      if change -> 'after' ?| '{outcome, outcome_reason}' then
        perform public.announce(tenant, 'lane.outcome_changed', changed, about);
      end if;
    end if;
    return changed;
  end $$;

-- Takes deliveries of one address that are due, oldest first, each for `lease_seconds`: whoever took them is to settle them
-- by then. Two who ask at once get different ones. An event of a lane waits until those before it are settled: the first of
-- them is taken in its place where that is due, and it is put off until then, and let go by settle_delivery. Null where nothing
-- may be sent.
create function claim_deliveries(tenant integer, endpoint integer, most integer, lease_seconds integer) returns json
  language plpgsql volatile
  as $$
  declare
    moment constant timestamptz := clock_timestamp();
    due public.event_deliveries;
    first public.event_deliveries;
    taken public.event_deliveries;
    claimed bigint[] := '{}';
    answer json;
  begin
    if not exists (select from public.tenants where tenant_id = tenant and status = 'active') then
      -- A suspended brokerage is told nothing; what waits is looked at again later.
      update public.event_deliveries set next_at = moment + interval '10 minutes'
      where tenant_id = tenant and endpoint_id = endpoint and event_number in (
        select event_number from public.event_deliveries
        where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and next_at <= moment
        order by next_at limit 1000
        for update skip locked
      );
      return null;
    end if;
    if not exists (
      select from public.event_endpoints where tenant_id = tenant and endpoint_id = endpoint and state = 'active'
    ) then
      return null;
    end if;
    for due in
      select * from public.event_deliveries
      where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and next_at <= moment
      order by next_at, event_number
      limit most * 10
      for update skip locked
    loop
      exit when cardinality(claimed) >= most;
      -- The first of its lane that is not settled, which may be it.
      first := due;
      if due.lane_id is not null then
        select * into first from public.event_deliveries
        where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and lane_id = due.lane_id
        order by event_number limit 1;
      end if;
      if first.next_at <= moment then
        update public.event_deliveries
        set attempts = attempts + 1, attempted_at = moment, next_at = moment + make_interval(secs => lease_seconds)
        where tenant_id = tenant and endpoint_id = endpoint and event_number = (
          select event_number from public.event_deliveries
          where tenant_id = tenant and endpoint_id = endpoint and event_number = first.event_number
            and state = 'due' and next_at <= moment
          for update skip locked
        )
        returning * into taken;
        if found then
          claimed := claimed || taken.event_number;
          first := taken;
        end if;
      end if;
      if first.event_number <> due.event_number then
        update public.event_deliveries set next_at = greatest(first.next_at, moment + interval '1 second')
        where tenant_id = tenant and endpoint_id = endpoint and event_number = due.event_number;
      end if;
    end loop;
    select json_build_object(
      'url', url,
      'secrets', (
        select coalesce(json_agg(json_build_object('id', secret_id, 'sealed', encode(sealed, 'hex')) order by secret_id desc), '[]')
        from public.event_secrets
        where tenant_id = tenant and endpoint_id = endpoint and (expires_at is null or expires_at > moment)
      ),
      'events', (
        select coalesce(json_agg(json_build_object(
          'number', delivery.event_number, 'attempt', delivery.attempts, 'id', event.event_id, 'type', event.type,
          'occurred_at', event.occurred_at, 'about', event.about
        ) order by delivery.event_number), '[]')
        from public.event_deliveries as delivery
        join public.events as event
          on event.tenant_id = delivery.tenant_id and event.event_number = delivery.event_number
        where delivery.tenant_id = tenant and delivery.endpoint_id = endpoint and delivery.event_number = any (claimed)
      )
    ) into answer
    from public.event_endpoints
    where tenant_id = tenant and endpoint_id = endpoint;
    return answer;
  end $$;

-- Writes down what became of an attempt: delivered, dead, or due again in so many seconds. An attempt that is not the last
-- one any more (its lease ran out, or somebody asked for a replay) changes nothing. Answers whether it was.
create function settle_delivery(tenant integer, endpoint integer, number bigint, attempt integer, result jsonb) returns boolean
  language plpgsql volatile
  as $$
  declare
    moment constant timestamptz := clock_timestamp();
    settled public.event_deliveries;
  begin
    update public.event_deliveries set
      state = result ->> 'state',
      next_at = case when result ->> 'state' = 'due' then moment + make_interval(secs => (result ->> 'retry_seconds')::float8)
        else next_at end,
      settled_at = case when result ->> 'state' = 'due' then null else moment end,
      response_status = (result ->> 'status')::integer,
      response_text = result ->> 'text',
      failure = result ->> 'failure',
      duration_ms = (result ->> 'ms')::float8
    where tenant_id = tenant and endpoint_id = endpoint and event_number = number and state = 'due' and attempts = attempt
    returning * into settled;
    if not found then
      return false;
    end if;
    if settled.state <> 'due' and settled.lane_id is not null then
      update public.event_deliveries set next_at = least(next_at, moment)
      where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and event_number = (
        select event_number from public.event_deliveries
        where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and lane_id = settled.lane_id
          and event_number > number
        order by event_number limit 1
      ) and attempts = 0;
    end if;
    return true;
  end $$;

-- The two questions about all brokerages at once, asked by the service for itself: where something is to be sent, and how
-- long the queue is. Numbers of tenants and addresses, nothing of what is sent.
create policy event_queue_for_owner on event_deliveries for select to current_user using (true);
create policy event_queue_for_owner on event_endpoints for select to current_user using (true);
-- One look at the index for each address with something in its queue, however long that is. A distributed database, which does
-- not recurse over its workers, looks once for each active address.
create function due_endpoints(most integer) returns table (tenant_id integer, endpoint_id integer)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  begin
    if current_setting('citus.propagate_set_commands', true) is not null then
      return query
        select e.tenant_id, e.endpoint_id from public.event_endpoints e
        where e.state = 'active' and exists (
          select from public.event_deliveries d
          where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.state = 'due'
            and d.next_at <= clock_timestamp()
        )
        limit most;
      return;
    end if;
    return query with recursive queue as (
      (select d.tenant_id, d.endpoint_id, d.next_at from public.event_deliveries d where d.state = 'due'
       order by d.tenant_id, d.endpoint_id, d.next_at limit 1)
      union all
      select next.* from queue cross join lateral (
        select d.tenant_id, d.endpoint_id, d.next_at from public.event_deliveries d
        where d.state = 'due' and (d.tenant_id, d.endpoint_id) > (queue.tenant_id, queue.endpoint_id)
        order by d.tenant_id, d.endpoint_id, d.next_at limit 1
      ) as next
    )
    select queue.tenant_id, queue.endpoint_id
    from queue join public.event_endpoints e on e.tenant_id = queue.tenant_id and e.endpoint_id = queue.endpoint_id
    where queue.next_at <= clock_timestamp() and e.state = 'active'
    order by queue.next_at limit most;
  end $$;
create function event_queue(old timestamptz)
  returns table (waiting bigint, oldest_seconds float8, overdue_seconds float8, tenants_with_old integer[])
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  begin
    return query select count(*),
      coalesce(extract(epoch from clock_timestamp() - min(d.created_at)), 0)::float8,
      greatest(0, coalesce(extract(epoch from clock_timestamp() - min(d.next_at)), 0))::float8,
      array(select distinct o.tenant_id from (
        select a.tenant_id from public.event_deliveries a where a.created_at < old order by a.created_at limit 10000
      ) as o)
    from public.event_deliveries d
    join public.event_endpoints e on e.tenant_id = d.tenant_id and e.endpoint_id = d.endpoint_id
    where d.state = 'due' and e.state = 'active';
  end $$;

revoke all on function is_told(integer, text), announce(integer, text, lanes, jsonb), announce_quotes(integer, bigint[]),
  claim_deliveries(integer, integer, integer, integer), settle_delivery(integer, integer, bigint, integer, jsonb),
  due_endpoints(integer), event_queue(timestamptz) from public;
grant execute on function is_told(integer, text), announce(integer, text, lanes, jsonb), announce_quotes(integer, bigint[]),
  claim_deliveries(integer, integer, integer, integer), settle_delivery(integer, integer, bigint, integer, jsonb),
  due_endpoints(integer), event_queue(timestamptz) to lanewise_service;
