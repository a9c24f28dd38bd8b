-- Events and their delivery to the endpoints of tenants (docs/events.md). The transaction of a change writes its event and
-- a delivery for each endpoint that subscribes to the type, so no committed change lacks its event and no event describes
-- a change that was rolled back. Without a subscriber, nothing is written. The service sends the deliveries afterwards.

-- All tenants share the sequence, so that no writer waits for another. Only event_id is sent, not this number.
create sequence event_number;
grant usage on sequence event_number to lanewise_service;

-- A URL that receives events. The service sets `disabled`, with a reason. A `removed` endpoint is deleted with its last
-- delivery.
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
alter table event_endpoints enable row level security;
alter table event_endpoints force row level security;
create policy tenant_isolation on event_endpoints
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For due_endpoints and event_queue.
create policy event_queue_for_owner on event_endpoints for select to current_user using (true);
grant select, insert, update, delete on event_endpoints to lanewise_service;

-- The secrets that sign deliveries, encrypted like signing_secrets. After a rotation, both secrets sign until the old one
-- expires.
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
alter table event_secrets enable row level security;
alter table event_secrets force row level security;
create policy tenant_isolation on event_secrets
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on event_secrets to lanewise_service;

-- An event: the lane after the change, and the change. lane_id is null for a test event.
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
alter table events enable row level security;
alter table events force row level security;
create policy tenant_isolation on events
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on events to lanewise_service;

-- The delivery of one event to one endpoint. While it is being sent, next_at is the end of the lease: if the process ends,
-- the delivery is due again at that time.
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
alter table event_deliveries enable row level security;
alter table event_deliveries force row level security;
create policy tenant_isolation on event_deliveries
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For due_endpoints and event_queue.
create policy event_queue_for_owner on event_deliveries for select to current_user using (true);
grant select, insert, update, delete on event_deliveries to lanewise_service;

-- The endpoints that were told that a credential expires soon: each is told once, also if several instances look at the
-- same time, and after the event itself was deleted.
create table expiry_notices (
  tenant_id integer not null,
  endpoint_id integer not null,
  credential text not null check (credential in ('service_token', 'signing_secret')),
  credential_id integer not null,
  primary key (tenant_id, endpoint_id, credential, credential_id),
  foreign key (tenant_id, endpoint_id) references event_endpoints on delete cascade
);
alter table expiry_notices enable row level security;
alter table expiry_notices force row level security;
create policy tenant_isolation on expiry_notices
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on expiry_notices to lanewise_service;

-- For unannounced_expiries, like the indexes of the credentials by expiry.
create policy expiries_for_owner on expiry_notices for select to current_user using (true);
create policy expiries_for_owner on service_tokens for select to current_user using (true);
create policy expiries_for_owner on signing_secrets for select to current_user using (true);
create index service_tokens_by_expiry on service_tokens (expires_at) where revoked_at is null;
create index signing_secrets_by_expiry on signing_secrets (expires_at)
  where revoked_at is null and expires_at is not null;

-- Whether events are on and an endpoint subscribes to a type. The events of a paused endpoint, and of one that is disabled
-- because it failed, wait until it is active again.
create function has_subscriber(tenant integer, kind text) returns boolean
  language plpgsql stable
  as $$
  -- In the database because announce, which change_lane calls within the transaction of a change, tests it there.
  -- announce_quotes tests it too, before it reads the new quotes.
  begin
    if not (select installation.events from public.installation) then
      return false;
    end if;
    return exists (
      select from public.event_endpoints
      where tenant_id = tenant and (state in ('active', 'paused') or disabled_reason = 'failing')
        and kind = any (event_types)
    );
  end $$;
revoke all on function has_subscriber(integer, text) from public;
grant execute on function has_subscriber(integer, text) to lanewise_service;

-- Writes an event about a lane, with its deliveries, if an endpoint subscribes to the type.
create function announce(tenant integer, kind text, of_lane lanes, about jsonb) returns void
  language plpgsql volatile
  as $$
  -- In the database because change_lane calls it within the transaction of the change. Citus allows no subquery in the
  -- values of an insert, so each value is read into a variable first.
  declare
    moment constant timestamptz := clock_timestamp();
    new_number bigint;
    new_id constant uuid := gen_random_uuid();
    request_reference text;
    quoted_by text;
    basis text;
    landed jsonb;
    event_lane jsonb;
    subscriber integer;
  begin
    if not public.has_subscriber(tenant, kind) then
      return;
    end if;
    select reference into request_reference from public.quote_requests
    where tenant_id = tenant and request_id = of_lane.request_id;
    -- The person who imported a lane did not quote it.
    if of_lane.import_id is null then
      select name into quoted_by from public.users where tenant_id = tenant and user_id = of_lane.created_by;
    end if;
    select default_basis into basis from public.tenants where tenant_id = tenant;
    -- Amounts on two bases or in two currencies, as the fuel schedule and the exchange rate of their day convert them now. The
    -- event has the margin of that moment, whatever is corrected later.
    if of_lane.customer_rate_cents is not null and of_lane.truck_cost_cents is not null
      and (coalesce(of_lane.customer_basis, basis) <> coalesce(of_lane.truck_basis, basis)
        or coalesce(of_lane.customer_currency, 'USD') <> coalesce(of_lane.truck_currency, 'USD')) then
      select jsonb_build_object('revenue_cents', customer_rate_cents, 'cost_cents', truck_cost_cents) into landed
      from public.counted_lanes
      where tenant_id = tenant and lane_id = of_lane.lane_id
        and customer_rate_cents is not null and truck_cost_cents is not null;
    end if;
    event_lane := to_jsonb(of_lane)
      - '{tenant_id, search_text, signed_at, quote_signed_at, outcome_before_booking, import_fingerprint, import_id, origin_key,
          destination_key, origin_state, destination_state, origin_market, destination_market}'::text[]
      || jsonb_build_object('reference', request_reference, 'quoted_by_name', quoted_by, 'default_basis', basis,
        'landed', landed);
    about := about || jsonb_build_object('lane', event_lane);
    new_number := nextval('public.event_number');
    insert into public.events (tenant_id, event_number, event_id, type, lane_id, occurred_at, about)
    values (tenant, new_number, new_id, kind, of_lane.lane_id, moment, announce.about);
    -- One by one: Citus plans an insert from a query for every shard, and locks them all.
    for subscriber in
      select endpoint_id from public.event_endpoints
      where tenant_id = tenant and (state in ('active', 'paused') or disabled_reason = 'failing')
        and kind = any (event_types)
      order by endpoint_id
    loop
      insert into public.event_deliveries (tenant_id, endpoint_id, event_number, lane_id, created_at, next_at)
      values (tenant, subscriber, new_number, of_lane.lane_id, moment, moment);
    end loop;
  end $$;
revoke all on function announce(integer, text, lanes, jsonb) from public;
grant execute on function announce(integer, text, lanes, jsonb) to lanewise_service;

-- Writes the events of new quotes. Called in the last statement of the transaction that inserted them.
create function announce_quotes(tenant integer, lane_ids bigint[]) returns void
  language plpgsql volatile
  as $$
  -- In the database for one round trip: the events of many quotes with the statement that ends their transaction.
  declare
    quote public.lanes;
  begin
    if not public.has_subscriber(tenant, 'quote.created') then
      return;
    end if;
    for quote in
      select * from public.lanes where tenant_id = tenant and lane_id = any (lane_ids)
      order by lane_number, quote_count
    loop
      perform public.announce(tenant, 'quote.created', quote, '{}');
    end loop;
  end $$;
revoke all on function announce_quotes(integer, bigint[]) from public;
grant execute on function announce_quotes(integer, bigint[]) to lanewise_service;

-- Claims due deliveries of an endpoint, oldest first, each for `lease_seconds`, and returns the endpoint's URL, its secrets
-- and the events. The caller settles each delivery within the lease. Concurrent callers get different deliveries. The
-- events of a lane are sent in order: while an earlier event of the lane is unsettled, that event is claimed instead if it
-- is due, and the later one is postponed until settle_delivery releases it. Null if the tenant or the endpoint is inactive.
create function claim_deliveries(tenant integer, endpoint integer, max_count integer, lease_seconds integer) returns json
  language plpgsql volatile
  as $$
  -- In the database because a claim must be atomic across connections, in one round trip.
  declare
    moment constant timestamptz := clock_timestamp();
    due public.event_deliveries;
    first public.event_deliveries;
    claimed public.event_deliveries;
    claimed_numbers bigint[] := '{}';
    result json;
  begin
    if not exists (select from public.tenants where tenant_id = tenant and status = 'active') then
      -- A suspended tenant gets no events. Its deliveries are due again in 10 minutes.
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
      limit max_count * 10
      for update skip locked
    loop
      exit when cardinality(claimed_numbers) >= max_count;
      -- The first unsettled delivery of the lane, which may be `due` itself.
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
        returning * into claimed;
        if found then
          claimed_numbers := claimed_numbers || claimed.event_number;
          first := claimed;
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
        where delivery.tenant_id = tenant and delivery.endpoint_id = endpoint
          and delivery.event_number = any (claimed_numbers)
      )
    ) into result
    from public.event_endpoints
    where tenant_id = tenant and endpoint_id = endpoint;
    return result;
  end $$;
revoke all on function claim_deliveries(integer, integer, integer, integer) from public;
grant execute on function claim_deliveries(integer, integer, integer, integer) to lanewise_service;

-- Records the result of an attempt: delivered, dead, or due again after `retry_seconds`. It changes nothing, and returns
-- false, if the attempt is not the delivery's newest one: its lease expired, or a person asked for a replay.
create function settle_delivery(tenant integer, endpoint integer, number bigint, attempt integer, result jsonb) returns boolean
  language plpgsql volatile
  as $$
  -- In the database for one round trip: settling a delivery also releases the next one of its lane.
  declare
    moment constant timestamptz := clock_timestamp();
    -- Computed here, because Citus refuses an update with the sum of a time and an interval in a CASE.
    retry_at constant timestamptz := moment + make_interval(secs => (result ->> 'retry_seconds')::float8);
    settled public.event_deliveries;
  begin
    update public.event_deliveries set
      state = result ->> 'state',
      next_at = case when result ->> 'state' = 'due' then retry_at else next_at end,
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
revoke all on function settle_delivery(integer, integer, bigint, integer, jsonb) from public;
grant execute on function settle_delivery(integer, integer, bigint, integer, jsonb) to lanewise_service;

-- Returns the active endpoints, of all tenants, that have a due delivery, longest due first.
create function due_endpoints(max_count integer) returns table (tenant_id integer, endpoint_id integer)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but two numbers per endpoint. One index lookup per endpoint with a queue, however long the queue is.
  begin
    if current_setting('citus.propagate_set_commands', true) is not null then
      -- Citus does not distribute a recursive query: one lookup per active endpoint.
      return query select numbers[1], numbers[2] from public.across_tenants(format(
        $query$
          select array[e.tenant_id, e.endpoint_id] from {event_endpoints} as e
          where e.state = 'active' and exists (
            select from {event_deliveries} as d
            where d.tenant_id = e.tenant_id and d.endpoint_id = e.endpoint_id and d.state = 'due'
              and d.next_at <= %L::timestamptz
          )
          limit %s
        $query$, clock_timestamp(), max_count)) as one (numbers) limit max_count;
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
    order by queue.next_at limit max_count;
  end $$;
revoke all on function due_endpoints(integer) from public;
grant execute on function due_endpoints(integer) to lanewise_service;

-- Returns the state of the queue over all tenants: how many deliveries are waiting, the age of the oldest, how long the
-- longest due one is overdue, and which tenants have deliveries from before `old`.
create function event_queue(old timestamptz)
  returns table (waiting bigint, oldest_seconds float8, overdue_seconds float8, tenants_with_old integer[])
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but counts and the numbers of tenants. Two statements, because Citus does not distribute a subquery
  -- among the results of another query.
  declare
    oldest timestamptz;
    longest_due timestamptz;
  begin
    select count(*), min(d.created_at), min(d.next_at) into waiting, oldest, longest_due
    from public.event_deliveries d
    join public.event_endpoints e on e.tenant_id = d.tenant_id and e.endpoint_id = d.endpoint_id
    where d.state = 'due' and e.state = 'active';
    select coalesce(array_agg(distinct o.tenant_id), '{}') into tenants_with_old
    from (
      select d.tenant_id from public.event_deliveries d where d.created_at < old order by d.created_at limit 10000
    ) as o;
    oldest_seconds := coalesce(extract(epoch from clock_timestamp() - oldest), 0);
    overdue_seconds := greatest(0, coalesce(extract(epoch from clock_timestamp() - longest_due), 0));
    return next;
  end $$;
revoke all on function event_queue(timestamptz) from public;
grant execute on function event_queue(timestamptz) to lanewise_service;

-- Returns the tenants that have a credential which expires within `notice_days`, and an active endpoint that subscribes to
-- credential.expiring and was not told about it.
create function unannounced_expiries(notice_days integer) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. It reads the credentials that expire soon, by an index.
  declare
    moment constant timestamptz := clock_timestamp();
    until constant timestamptz := moment + make_interval(days => notice_days);
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[t.tenant_id] from {service_tokens} as t
        join {event_endpoints} as e on e.tenant_id = t.tenant_id
        where t.revoked_at is null and t.expires_at > %1$L::timestamptz and t.expires_at <= %2$L::timestamptz
          and e.state = 'active' and 'credential.expiring' = any (e.event_types)
          and not exists (
            select from {expiry_notices} as n
            where n.tenant_id = t.tenant_id and n.endpoint_id = e.endpoint_id
              and n.credential = 'service_token' and n.credential_id = t.token_id
          )
      $query$, moment, until)) as one (numbers);
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[s.tenant_id] from {signing_secrets} as s
        join {event_endpoints} as e on e.tenant_id = s.tenant_id
        where s.revoked_at is null and s.expires_at > %1$L::timestamptz and s.expires_at <= %2$L::timestamptz
          and e.state = 'active' and 'credential.expiring' = any (e.event_types)
          and not exists (
            select from {expiry_notices} as n
            where n.tenant_id = s.tenant_id and n.endpoint_id = e.endpoint_id
              and n.credential = 'signing_secret' and n.credential_id = s.secret_id
          )
      $query$, moment, until)) as one (numbers);
  end $$;
revoke all on function unannounced_expiries(integer) from public;
grant execute on function unannounced_expiries(integer) to lanewise_service;
