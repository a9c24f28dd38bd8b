-- Each quote keeps the forecast that was made with it, written once. It takes the place of the sealed pilot and of the daily check of
-- the calibration: their forecasts are kept, and their chains, experiments and checks are dropped.
-- An instance of the version before cannot save quotes beside this schema: stop all of them before the upgrade.

-- The advice that the desk sent with a quote is the forecast of that quote.
alter table lanes rename column advice to forecast;
alter view counted_lanes rename column advice to forecast;
do $$
  declare
    holder integer;
    kept bigint;
    kept_in_all bigint := 0;
    entries_in_all bigint := 0;
    pilots_in_all bigint;
    found bigint;
  begin
    select count(*) into pilots_in_all from pilots;
    -- One brokerage at a time, because row-level security applies to the owner, too.
    for holder in select tenant_id from tenants order by tenant_id loop
      perform enter_tenant(holder::text, 0, 0, 0);
      update lanes set forecast = jsonb_build_object(
        'made_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'win_probability', forecast -> 'win_probability', 'low', forecast -> 'low', 'high', forecast -> 'high',
        'cost', null, 'cost_from', null, 'going_rate', forecast -> 'going_rate', 'best_rate', forecast -> 'best_rate',
        'lane_win_rate', null, 'quoted_as', null, 'model', null)
      where tenant_id = holder and forecast is not null;
      -- The last forecast that the pilot recorded in time is the one that was scored.
      update lanes set forecast = jsonb_build_object(
        'made_at', to_char(sealed.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'win_probability', sealed.body -> 'probability',
        'low', sealed.body -> 'interval_80' -> 0, 'high', sealed.body -> 'interval_80' -> 1,
        'cost', sealed.body -> 'cost', 'cost_from', sealed.body -> 'cost_from',
        'going_rate', sealed.body -> 'going_rate', 'best_rate', sealed.body -> 'best_rate',
        -- The win rate of the lane with two pseudo-quotes at the win rate of the brokerage: engine/src/recorded-forecast.ts.
        'lane_win_rate', ((sealed.body ->> 'lane_won')::double precision
          + 2 * ((sealed.body ->> 'all_won')::double precision + 1) / ((sealed.body ->> 'all_decided')::double precision + 2))
          / ((sealed.body ->> 'lane_decided')::double precision + 2),
        'quoted_as', sealed.body -> 'quoted_as', 'model', sealed.body -> 'model')
      from (
        select distinct on (lane_id) lane_id, at, body::jsonb as body from pilot_entries
        where tenant_id = holder and kind = 'forecast' and body::jsonb -> 'late' = 'null' and body::jsonb -> 'probability' <> 'null'
        order by lane_id, entry_number desc
      ) as sealed
      where tenant_id = holder and lanes.lane_id = sealed.lane_id;
      select count(*) into kept from lanes where tenant_id = holder and forecast is not null;
      select count(*) into found from pilot_entries where tenant_id = holder;
      kept_in_all := kept_in_all + kept;
      entries_in_all := entries_in_all + found;
      delete from tenant_counters where tenant_id = holder and counter = 'pilot';
      delete from event_deliveries where tenant_id = holder and event_number in (
        select event_number from events
        where tenant_id = holder and type in ('pilot.head', 'model.calibration_broken')
      );
      delete from events where tenant_id = holder and type in ('pilot.head', 'model.calibration_broken');
      -- An address that wanted nothing else stays, and gets no events until an admin chooses some.
      update event_endpoints
      set event_types = array_remove(array_remove(event_types, 'pilot.head'), 'model.calibration_broken')
      where tenant_id = holder and event_types && array['pilot.head', 'model.calibration_broken'];
    end loop;
    if entries_in_all > 0 then
      raise notice using errcode = 'LW001', message = format(
        'kept the forecasts of %s quotes, and dropped %s pilots with %s entries of their chains and the daily checks of the calibration',
        kept_in_all, pilots_in_all, entries_in_all);
    end if;
  end $$;

drop function tenants_with_pilots_behind();
drop function tenants_with_heads_to_announce(timestamptz);
drop function tenants_to_check(timestamptz);
drop function broken_calibrations();
drop table pilot_entries;
drop table pilots;
drop table calibration_checks;

-- Unchanged but for the forecast among the columns that never change.
create or replace function make_change_lane()
  returns void
  language plpgsql
AS $function$
  -- In the database because migrations call it: the columns of a lane are listed in one place, the table itself.
  declare
    -- The columns that never change after a lane is inserted, and the one that every update sets.
    fixed constant text[] := '{tenant_id,lane_id,lane_ref,request_id,lane_number,quote_count,import_id,import_fingerprint,
      expected_cost_cents,expected_cost_low_cents,expected_cost_high_cents,expected_basis,forecast,updated_at}';
    variables text;
    searched text;
    every_column text;
    not_searched text;
  begin
    with changing as (
      select attname as name, attnum, format_type(atttypid, atttypmod) as type,
        -- Whether a generated column, such as search_text, is computed from it.
        exists (
          select from pg_attrdef
          join pg_depend on classid = 'pg_attrdef'::regclass and objid = pg_attrdef.oid
          join pg_attribute as made on made.attrelid = adrelid and made.attnum = adnum and made.attgenerated <> ''
          where adrelid = 'public.lanes'::regclass and refobjid = adrelid and refobjsubid = attribute.attnum
        ) as is_searched
      from pg_attribute as attribute
      where attrelid = 'public.lanes'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
        and attname <> all (fixed)
    ),
    columns as (
      select name, attnum, type, is_searched, type in ('timestamp with time zone', 'date') as is_time,
        format(E'        %1$I = case when new_values ? %1$L\n          then %2$s else known.%1$I end,\n', name,
          case
            when type in ('timestamp with time zone', 'date') then format('new_%s', name)
            when type = 'jsonb' then format($q$nullif(new_values -> %L, 'null')$q$, name)
            when type = 'text' then format('new_values ->> %L', name)
            else format('(new_values ->> %L)::%s', name, type)
          end) as assignment
      from changing
    )
    select
      string_agg(format(E'    new_%1$s constant %2$s := (new_values ->> %1$L)::%2$s;\n', name,
        case type when 'date' then type else 'timestamptz' end), '' order by attnum) filter (where is_time),
      string_agg(name, ',' order by attnum) filter (where is_searched),
      string_agg(assignment, '' order by attnum),
      string_agg(assignment, '' order by attnum) filter (where not is_searched)
    into variables, searched, every_column, not_searched
    from columns;
    execute replace(replace(replace(replace($template$
create or replace function public.change_lane(tenant integer, lane bigint, expected_version text, new_values jsonb, change jsonb)
  returns lanes
  language plpgsql volatile set enable_seqscan = off
  as $$
  -- In the database because book_shipment calls it, and one round trip changes the lanes of a whole batch. The lane, its
  -- history and its events are written together, so no change lacks its record.
  --
  -- Generated by make_change_lane. The statements list every column that can change, so that their plans are cached: PostgreSQL
  -- would plan a statement with only the columns of `new_values` on every call.
  declare
    changed public.lanes;
    previous_number integer;
    number integer;
    about jsonb;
    kind text;
    -- Converted here, because Citus refuses an update with a cast to a time in a CASE.
    at constant timestamptz := (change ->> 'changed_at')::timestamptz;
{variables}  begin
    if new_values ?| '{{searched}}' then
      update public.lanes as known set
{every_column}        updated_at = coalesce(at, known.updated_at)
      where tenant_id = tenant and lane_id = lane and (expected_version is null or xmin = expected_version::xid)
      returning * into changed;
    else
      -- Without the columns of search_text: PostgreSQL recomputes it if the statement names one of them (about 40 us).
      update public.lanes as known set
{not_searched}        updated_at = coalesce(at, known.updated_at)
      where tenant_id = tenant and lane_id = lane and (expected_version is null or xmin = expected_version::xid)
      returning * into changed;
    end if;
    if not found then
      return null;
    end if;
    if change is not null then
      -- The update locked the row of the lane, so no other transaction uses this number.
      select max(change_number) into previous_number from public.lane_changes where tenant_id = tenant and lane_id = lane;
      number := coalesce(previous_number, 0) + 1;
      insert into public.lane_changes (tenant_id, lane_id, change_number, source, user_id, token_id, import_id,
        changed_at, before, after, rolled_back_change, rule)
      values (tenant, lane, number, change ->> 'source', (change ->> 'user_id')::integer,
        (change ->> 'token_id')::integer, (change ->> 'import_id')::integer, at,
        change -> 'before', change -> 'after', (change ->> 'rolled_back_change')::integer, change ->> 'rule');
      -- Most tenants have no event endpoint. This check saves building the event for them.
      if exists (select from public.event_endpoints where tenant_id = tenant and state <> 'removed') then
        about := jsonb_build_object('change_number', number, 'source', change -> 'source', 'rule', change -> 'rule',
          'before', change -> 'before', 'after', change -> 'after');
        for kind in select jsonb_array_elements_text(change -> 'events') loop
          perform public.announce(tenant, kind, changed, about);
        end loop;
      end if;
    end if;
    return changed;
  end $$$template$, '{variables}', variables), '{searched}', searched), '{every_column}', every_column),
      '{not_searched}', not_searched);
  end $function$;
select make_change_lane();

-- Unchanged but for the three tables that are gone.
create or replace function erase_sandbox_rows(sandbox integer, most integer)
  returns jsonb
  language plpgsql
  security definer
  set search_path = pg_catalog, public
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
