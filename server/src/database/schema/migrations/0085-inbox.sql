-- The inbox of a person, follow-ups of pending quotes, and the escalation of approvals
-- (docs/decisions/0140-the-inbox-is-derived.md). The version before knows none of it.

-- What a person did with an item of their inbox. The items themselves follow from what is stored elsewhere.
create table inbox_marks (
  tenant_id integer not null,
  user_id integer not null,
  -- The kind of the item and what it is about, such as `approval 12 waiting`.
  item text not null,
  seen_at timestamptz,
  done_at timestamptz,
  snoozed_until timestamptz,
  marked_at timestamptz not null,
  primary key (tenant_id, user_id, item),
  foreign key (tenant_id, user_id) references users
);
create index inbox_marks_by_age on inbox_marks (tenant_id, user_id, marked_at);
alter table inbox_marks enable row level security;
alter table inbox_marks force row level security;
create policy tenant_isolation on inbox_marks
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on inbox_marks to lanewise_service;

-- Who follows up the pending quotes of this person. Null: the person; after they left, the admins and owners.
alter table users add column quotes_to integer;

-- When a pending quote is due for a follow-up. Null: there is no such rule.
alter table tenants add column follow_up_after_hours integer default 4;
alter table tenants add column follow_up_before_end_minutes integer default 60;
-- After so many minutes, owners are told that nobody decided. Null: they are not.
alter table tenants add column escalate_after_minutes integer default 15;

-- When owners are told that nobody decided, from the setting at the time of the request; and when they were.
alter table approvals add column escalate_at timestamptz;
alter table approvals add column escalated_at timestamptz;

-- The tenants with a request that waits for longer than the brokerage permits.
create function tenants_with_waiting_approvals() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. Undecided requests are few.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[approval.tenant_id] from {approvals} as approval
        where approval.state = 'waiting'
          and approval.escalated_at is null and approval.escalate_at <= %L::timestamptz
      $query$, clock_timestamp())) as one (numbers);
  end $$;
revoke all on function tenants_with_waiting_approvals() from public;
grant execute on function tenants_with_waiting_approvals() to lanewise_service;

-- A reset of a test brokerage erases what was done with items of its inbox, too.
create or replace function erase_sandbox_rows(sandbox integer, most integer) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, public
  as $function$
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
