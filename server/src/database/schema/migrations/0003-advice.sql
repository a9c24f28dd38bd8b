-- What advice needs beside the facts: a version of a tenant's facts, so that prepared models know when they are old; the
-- floors a tenant will not quote below; and the truck cost that was expected when a lane was quoted.

-- One more with every committed change of a tenant's lanes. Written last in a transaction, so that it is held briefly.
create table tenant_facts (
  tenant_id integer primary key references tenants,
  facts_version bigint not null
);
alter table tenant_facts enable row level security;
alter table tenant_facts force row level security;
create policy tenant_wall on tenant_facts for all
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on tenant_facts to lanewise_service;

alter table tenants
  add column floor_margin_pct double precision check (floor_margin_pct >= 0 and floor_margin_pct <= 90),
  add column floor_margin_cents integer check (floor_margin_cents between 0 and 999999999),
  add column floor_rate_per_mile_cents integer check (floor_rate_per_mile_cents between 0 and 999999999);

alter table lanes
  add column expected_cost_cents integer check (expected_cost_cents between 0 and 999999999),
  add column expected_cost_low_cents integer check (expected_cost_low_cents between 0 and 999999999),
  add column expected_cost_high_cents integer check (expected_cost_high_cents between 0 and 999999999);

create index lanes_by_market on lanes (tenant_id, origin_market, destination_market, equipment_code)
  where origin_market is not null and destination_market is not null;
