-- A reset of a test brokerage erases its bids, too.
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
