-- A row of a file whose reference is known updates its lane. The same row again changes nothing, whoever has changed the lane
-- since: the lane keeps a digest of the last row that was imported for it.
alter table lanes add column import_said text;

-- Rows of which everything new was left out because a newer value stands; the first changes, field by field; and the values
-- that were left out, with who set those that stand.
alter table imports
  add column rows_kept integer not null default 0,
  add column changes jsonb not null default '[]',
  add column kept jsonb not null default '[]';

-- Writes the members of `held` to the quote of a lane, and leaves the others. The line in the history of the lane is written by
-- change_lane in the same transaction.
create function change_quote(tenant integer, lane bigint, held jsonb) returns void
  language plpgsql volatile set enable_seqscan = off
  as $$
  declare
    request bigint;
  begin
    update public.lanes set
      quoted_rate_cents = case when held ? 'quoted_rate_cents' then (held ->> 'quoted_rate_cents')::integer
        else quoted_rate_cents end,
      estimated_cost_cents = case when held ? 'estimated_cost_cents' then (held ->> 'estimated_cost_cents')::integer
        else estimated_cost_cents end,
      market_rate_cents = case when held ? 'market_rate_cents' then (held ->> 'market_rate_cents')::integer
        else market_rate_cents end,
      miles = case when held ? 'miles' then (held ->> 'miles')::double precision else miles end,
      pickup_date = case when held ? 'pickup_date' then (held ->> 'pickup_date')::date else pickup_date end,
      created_at = case when held ? 'created_at' then (held ->> 'created_at')::timestamptz else created_at end,
      import_said = case when held ? 'import_said' then held ->> 'import_said' else import_said end
    where tenant_id = tenant and lane_id = lane
    returning request_id into request;
    if held ? 'created_at' then
      -- The request of an imported quote has that one quote.
      update public.quote_requests set created_at = (held ->> 'created_at')::timestamptz
      where tenant_id = tenant and request_id = request and import_id is not null;
    end if;
  end $$;
revoke all on function change_quote(integer, bigint, jsonb) from public;
grant execute on function change_quote(integer, bigint, jsonb) to lanewise_service;
