-- The lane watch (docs/decisions/0156-the-lane-watch.md): what people follow, and the moves that were found. The version before knows
-- none of it.

-- A lane, a customer or a market that a person follows.
create table watches (
  tenant_id integer not null references tenants,
  watch_id uuid not null,
  user_id integer not null,
  kind text not null check (kind in ('lane', 'customer', 'market')),
  -- In words, such as a city pair with its equipment, or the name of the customer. One person follows it once.
  label text not null,
  -- Places of a lane, or markets of a market; empty for a customer.
  origin text not null,
  destination text not null,
  equipment_code text,
  followed_at timestamptz not null,
  primary key (tenant_id, watch_id),
  foreign key (tenant_id, user_id) references users
);
create unique index watches_once on watches (tenant_id, user_id, kind, label);
alter table watches enable row level security;
alter table watches force row level security;
create policy tenant_isolation on watches
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on watches to lanewise_service;

-- For tenants_with_due_watches.
create policy due_watches_for_owner on watches for select to current_user using (true);

-- A move that was found. A watch is told one for each metric and day.
create table watch_moves (
  tenant_id integer not null references tenants,
  watch_id uuid not null,
  metric text not null check (metric in ('cost', 'rate', 'win_rate')),
  -- The day of the scan that found it, and the day on which it most likely began: days since 1970, in UTC.
  found_on integer not null,
  since integer not null,
  found_at timestamptz not null,
  before_value double precision not null,
  after_value double precision not null,
  values_before integer not null,
  values_after integer not null,
  -- The customers behind the values: a person from whom one of them is hidden by now does not see the move.
  customers jsonb not null,
  primary key (tenant_id, watch_id, metric, found_on),
  foreign key (tenant_id, watch_id) references watches
);
alter table watch_moves enable row level security;
alter table watch_moves force row level security;
create policy tenant_isolation on watch_moves
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on watch_moves to lanewise_service;

-- When the watches of a brokerage are scanned next: while one process scans them, the end of its lease. Null: at once.
alter table tenants add column watch_scan_at timestamptz;

-- The tenants whose watches are due for a scan.
create function tenants_with_due_watches(at timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[tenant.tenant_id] from {tenants} as tenant
        where tenant.status = 'active' and (tenant.watch_scan_at is null or tenant.watch_scan_at <= %L::timestamptz)
          and exists (select from {watches} as watch where watch.tenant_id = tenant.tenant_id)
      $query$, at)) as one (numbers);
  end $$;
revoke all on function tenants_with_due_watches(timestamptz) from public;
grant execute on function tenants_with_due_watches(timestamptz) to lanewise_service;

-- A reset of a test brokerage erases its watches, too.
create or replace function erase_sandbox_rows(sandbox integer, most integer)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
AS $function$
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
    delete from public.inbox_marks where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.watch_moves where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.watches where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.mails where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bid_changes where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bid_lanes where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bids where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
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
  end $function$;
