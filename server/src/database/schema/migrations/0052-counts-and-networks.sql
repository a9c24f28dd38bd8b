-- Counts that limit what a brokerage does in a day (invitations, paid calls to providers of market rates), and the networks that
-- people signed in from, which others cannot delay by wrong passwords (docs/decisions/0012-sessions.md).

-- How often a brokerage did something today, over all instances. One row for each counter: the next day overwrites it.
create table daily_counts (
  tenant_id integer not null references tenants,
  counter text not null check (counter in ('invitation', 'market-call')),
  -- A day of UTC.
  day date not null,
  used integer not null check (used > 0),
  primary key (tenant_id, counter)
);
alter table daily_counts enable row level security;
alter table daily_counts force row level security;
create policy tenant_isolation on daily_counts
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on daily_counts to lanewise_service;

-- The networks that a person signed in from, the newest ones, for 30 days. Not the network, but its hash with a key that is not in
-- the database.
create table sign_in_networks (
  tenant_id integer not null,
  user_id integer not null,
  network_hash bytea not null check (length(network_hash) = 32),
  signed_in_at timestamptz not null,
  primary key (tenant_id, user_id, network_hash),
  foreign key (tenant_id, user_id) references users
);
alter table sign_in_networks enable row level security;
alter table sign_in_networks force row level security;
create policy tenant_isolation on sign_in_networks
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
create policy old_networks_for_owner on sign_in_networks for select to current_user using (true);
grant select, insert, update, delete on sign_in_networks to lanewise_service;

-- Returns the brokerages with networks from before a time.
create function tenants_with_old_networks(before timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[known.tenant_id] from {sign_in_networks} as known where known.signed_in_at < %L::timestamptz
      $query$, before)) as one (numbers);
  end $$;
revoke all on function tenants_with_old_networks(timestamptz) from public;
grant execute on function tenants_with_old_networks(timestamptz) to lanewise_service;

-- The most calls to paid providers of market rates in a day of UTC; 0: none. Its admin sets it.
alter table tenants add column market_calls_per_day integer not null default 500;
