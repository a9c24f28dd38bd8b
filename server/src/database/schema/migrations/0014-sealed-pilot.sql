-- The sealed pilot: forecasts that are recorded before their outcomes exist, in a chain of hashes like that of the audit log
-- (0009-audit.sql). Docs: docs/pilot.md.

-- A row for each tenant that has switched its pilot on.
create table pilots (
  tenant_id integer primary key references tenants,
  active boolean not null,
  started_at timestamptz not null,
  started_by integer not null,
  stopped_at timestamptz,
  -- The version of the tenant's facts up to which outcomes are in the chain.
  sealed_version bigint not null,
  -- The last entry that an event named, and when.
  announced_entry bigint not null default 0,
  announced_at timestamptz,
  -- The running experiment with suggested rates: {"seed", "quotes", "started_at"}; null if there is none.
  experiment jsonb
);
alter table pilots enable row level security;
alter table pilots force row level security;
create policy tenant_isolation on pilots
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For tenants_with_pilots_behind and tenants_with_heads_to_announce.
create policy pilots_for_owner on pilots for select to current_user using (true);
grant select, insert, update on pilots to lanewise_service;

-- The chain. The service can only add rows.
create table pilot_entries (
  tenant_id integer not null references tenants,
  entry_number bigint not null check (entry_number >= 1),
  at timestamptz not null,
  kind text not null check (kind in ('started', 'stopped', 'forecast', 'outcome', 'experiment')),
  -- The lane of a forecast or an outcome. No foreign key: an entry stays when its lane is deleted.
  lane_id bigint,
  -- JSON, stored as the exact text that was hashed.
  body text not null,
  hash bytea not null check (length(hash) = 32),
  primary key (tenant_id, entry_number)
);
create index pilot_entries_by_lane on pilot_entries (tenant_id, lane_id, entry_number) where lane_id is not null;
alter table pilot_entries enable row level security;
alter table pilot_entries force row level security;
create policy tenant_isolation on pilot_entries
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert on pilot_entries to lanewise_service;

-- The tenants whose quotes have changed since their pilot recorded outcomes last.
create function tenants_with_pilots_behind() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. Pilots are few.
  begin
    return query select numbers[1] from public.across_tenants($query$
      select array[pilot.tenant_id] from {pilots} as pilot
      join {tenant_facts} as known on known.tenant_id = pilot.tenant_id
      where known.facts_version > pilot.sealed_version
    $query$) as one (numbers);
  end $$;
revoke all on function tenants_with_pilots_behind() from public;
grant execute on function tenants_with_pilots_behind() to lanewise_service;

-- The tenants with an active pilot whose newest entry was not announced since `before`.
create function tenants_with_heads_to_announce(before timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. Pilots are few.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[pilot.tenant_id] from {pilots} as pilot
        where pilot.active and (pilot.announced_at is null or pilot.announced_at < %L::timestamptz)
      $query$, before)) as one (numbers);
  end $$;
revoke all on function tenants_with_heads_to_announce(timestamptz) from public;
grant execute on function tenants_with_heads_to_announce(timestamptz) to lanewise_service;

-- The last check of a tenant's calibration: whether the win probabilities that were recorded with its quotes hold.
create table calibration_checks (
  tenant_id integer primary key references tenants,
  checked_at timestamptz not null,
  -- The version of the facts that was checked.
  checked_version bigint not null,
  state text not null check (state in ('too_few', 'holds', 'broken')),
  decided integer not null,
  won integer not null,
  mean_forecast double precision,
  evidence double precision not null,
  -- Since when the calibration is broken; null while it is not.
  broken_at timestamptz
);
alter table calibration_checks enable row level security;
alter table calibration_checks force row level security;
create policy tenant_isolation on calibration_checks
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For tenants_to_check and broken_calibrations.
create policy calibration_checks_for_owner on calibration_checks for select to current_user using (true);
grant select, insert, update on calibration_checks to lanewise_service;

-- The active tenants whose quotes have changed since their calibration was checked, if that was before `before`.
create function tenants_to_check(before timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[known.tenant_id] from {tenant_facts} as known
        join {tenants} as one on one.tenant_id = known.tenant_id
        left join {calibration_checks} as checked on checked.tenant_id = known.tenant_id
        where one.status = 'active' and known.facts_version > coalesce(checked.checked_version, 0)
          and (checked.checked_at is null or checked.checked_at < %L::timestamptz)
      $query$, before)) as one (numbers);
  end $$;
revoke all on function tenants_to_check(timestamptz) from public;
grant execute on function tenants_to_check(timestamptz) to lanewise_service;

-- The number of tenants whose calibration is broken.
create function broken_calibrations() returns bigint
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but a number.
  declare
    broken bigint;
  begin
    select count(*) into broken from public.calibration_checks where broken_at is not null;
    return broken;
  end $$;
revoke all on function broken_calibrations() from public;
grant execute on function broken_calibrations() to lanewise_service;
