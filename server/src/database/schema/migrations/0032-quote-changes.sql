-- A process keeps the quotes of a brokerage in memory (its book) and reads only the rows that changed. This table names them: one
-- row for each committed transaction that changed lanes of a brokerage, with the version of its facts that the transaction made,
-- and the ids of all lanes that it inserted, updated or deleted. What the database counted until now, a process computes from
-- its book: the five tables of counts go.

create table quote_changes (
  tenant_id integer not null,
  version bigint not null,
  lanes bigint[] not null,
  primary key (tenant_id, version)
);
alter table quote_changes enable row level security;
alter table quote_changes force row level security;
create policy tenant_wall on quote_changes for all
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on quote_changes to lanewise_service;

-- Moves a brokerage on as the last thing that a transaction does, and answers the versions that it then has. `lanes` are the ids
-- of the lanes that the transaction has changed. The row of tenant_facts stays locked until the commit, so the versions follow
-- the order of commits, and none is missing. Of the log the newest 10,000 to 11,000 versions are kept: a process that is
-- further behind reads all quotes.
create function move_tenant(tenant integer, facts integer, access integer, lanes bigint[]) returns jsonb
  language plpgsql volatile set enable_seqscan = off
  as $$
  declare
    this_transaction constant xid8 := pg_current_xact_id();
    facts_now bigint;
    access_now bigint;
  begin
    update public.tenant_facts as known set
      facts_version = known.facts_version + facts,
      access_version = known.access_version + access,
      changed_in = this_transaction
    where tenant_id = tenant
    returning facts_version, access_version into facts_now, access_now;
    if not found then
      insert into public.tenant_facts as known (tenant_id, facts_version, access_version, changed_in)
      values (tenant, facts, access, this_transaction)
      on conflict (tenant_id) do update set
        facts_version = known.facts_version + facts,
        access_version = known.access_version + access,
        changed_in = this_transaction
      returning facts_version, access_version into facts_now, access_now;
    end if;
    if facts = 1 then
      insert into public.quote_changes (tenant_id, version, lanes)
      values (tenant, facts_now, coalesce(move_tenant.lanes, '{}'));
      if facts_now % 1000 = 0 then
        delete from public.quote_changes where tenant_id = tenant and version <= facts_now - 10000;
      end if;
    end if;
    return jsonb_build_object('facts', facts_now, 'access', access_now);
  end $$;
revoke all on function move_tenant(integer, integer, integer, bigint[]) from public;
grant execute on function move_tenant(integer, integer, integer, bigint[]) to lanewise_service;

-- As in 0016; but the lane itself is named as changed, not what it adds to the counts.
create or replace function book_shipment(tenant integer, digest bytea, ref text, booking jsonb) returns json
  language plpgsql volatile set enable_seqscan = off
  as $$
  declare
    of_lane constant bigint := booking ->> 'lane_id';
    seen constant text := booking ->> 'seen';
    held constant jsonb := booking -> 'held';
    is_as_seen boolean;
    versions jsonb;
  begin
    -- Equal requests take turns. The lock is of the digest, not of a row, because the first of them has no row yet. Where it
    -- changed the lane, the others find another one than they saw.
    perform pg_advisory_xact_lock(tenant, (get_byte(digest, 0) << 24) | (get_byte(digest, 1) << 16)
      | (get_byte(digest, 2) << 8) | get_byte(digest, 3));
    if held is null then
      perform from public.lanes where tenant_id = tenant and lane_id = of_lane and xmin = seen::xid for update;
      is_as_seen := found;
    else
      is_as_seen := (public.change_lane(tenant, of_lane, seen, held, booking -> 'change')).lane_id is not null;
    end if;
    if not is_as_seen then
      return public.find_booking(tenant, digest, ref);
    end if;
    insert into public.shipment_updates (tenant_id, request_digest, lane_id, signed_at, received_at, token_id, carried,
      applied, updated)
    values (tenant, digest, of_lane, (booking ->> 'signed_at')::timestamptz, (booking ->> 'received_at')::timestamptz,
      (booking ->> 'token_id')::integer, booking -> 'carried', booking -> 'applied', (booking ->> 'updated')::boolean)
    on conflict do nothing;
    if not found then
      if held is null then
        return public.find_booking(tenant, digest, ref);
      end if;
      -- It was answered without a change of the lane, by a clock that is behind the one this was decided by.
      raise exception 'The same request was answered meanwhile.' using errcode = 'serialization_failure';
    end if;
    if held is not null then
      versions := public.move_tenant(tenant, 1, 0, array[of_lane]);
    end if;
    return json_build_object('booked', true, 'versions', versions);
  end $$;

drop function move_tenant(integer, integer, integer, jsonb);
drop function count_quotes(jsonb);
drop function count_lanes(integer, jsonb);
drop function keep_lane_counted(integer, text, text);
drop function add_quote_counts(jsonb, jsonb);
drop function added_on_days(bigint[], jsonb);
drop function added_counts(bigint[], bigint[]);
-- The locks are taken in the order in which a request takes them: a foreign key goes with its lock on tenants.
lock table tenants, tenant_facts in access exclusive mode;
alter table tenant_facts drop column won_quotes, drop column decided_quotes;
drop table counted_lanes, lane_days, lane_rates, quote_months, quote_miles;
