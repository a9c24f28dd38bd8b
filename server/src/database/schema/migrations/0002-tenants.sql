-- Tenants. A tenant is a brokerage.
--
-- Every table of tenants begins its primary key with tenant_id and contains tenant_id in every foreign key and unique
-- index. So no row can reference a row of another tenant, and Citus can distribute the tables by tenant.
--
-- Every table of tenants has row-level security, enabled and forced, with the policy tenant_isolation: a transaction sees
-- and writes only rows of the tenant in its setting app.tenant_id. `force` applies the policy to the owner too, so a
-- mistake in a migration cannot mix tenants. nullif, because a setting that was local to an earlier transaction reads as
-- '' afterwards, not as null.

create table tenants (
  tenant_id integer primary key check (tenant_id > 0),
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  win_probability_method text not null default 'at_or_below'
    check (win_probability_method in ('at_or_below', 'literal', 'revealed')),
  created_at timestamptz not null,
  -- The IANA time zone in which days and months of the pages begin.
  time_zone text not null default 'UTC',
  -- The pricing rules of the brokerage, a list (engine/src/rules/pricing-rules.ts). They are few, and always read together.
  pricing_rules jsonb not null default '[]' check (jsonb_typeof(pricing_rules) = 'array'),
  -- A quote without a date of its own expires this many days after it was made; null: it does not expire.
  quote_valid_days integer check (quote_valid_days between 1 and 365),
  -- Whether statistics count an expired quote as lost. Otherwise they count it as pending.
  expired_counts_as_lost boolean not null default false,
  -- What an amount includes if nobody said it, and the basis on which statistics compare amounts.
  default_basis text not null default 'all_in' check (default_basis in ('linehaul', 'all_in')),
  -- Counts the changes of what amounts are converted with. Memory that holds converted amounts of another number is old.
  conversions integer not null default 0,
  -- A test brokerage names the tenant that it belongs to, and that tenant names its test brokerage. Neither is a foreign key:
  -- the tenant of a transaction sees its own row only.
  sandbox_of integer,
  sandbox_id integer
);
alter table tenants enable row level security;
alter table tenants force row level security;
create policy tenant_isolation on tenants
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- Operators name a brokerage in commands, so the owner may read this table across tenants. The service may not.
create policy tenants_named_for_owner on tenants for select to current_user using (true);
grant select, insert, update on tenants to lanewise_service;

-- The last number of each sequence of a tenant's own: users, tokens, secrets, imports, calls. A sequence per tenant
-- reveals nothing about other tenants.
create table tenant_counters (
  tenant_id integer not null references tenants,
  counter text not null,
  -- bigint: at ten calls a second, an integer would last seven years.
  last_number bigint not null,
  primary key (tenant_id, counter)
);
alter table tenant_counters enable row level security;
alter table tenant_counters force row level security;
create policy tenant_isolation on tenant_counters
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on tenant_counters to lanewise_service;

-- Two versions per tenant, which tell a process when its caches are stale: of the facts (quotes and bookings), and of
-- access (tokens, secrets, roles of people, status and settings of the brokerage). A transaction increments them with its
-- last statement (advance_versions), so it holds this row only while it commits.
create table tenant_facts (
  tenant_id integer primary key references tenants,
  facts_version bigint not null,
  access_version bigint not null default 0,
  -- The newest version of the facts that advance_versions made, and the newest that something else made, such as a person
  -- who changed rows by hand: which lanes changed in the latter is unknown.
  logged_version bigint not null default 0,
  unlogged_version bigint not null default 0,
  -- The transaction that changed the row last. A process reads all rows with a transaction that it could not see when it
  -- read last. A filter by time could miss a transaction that committed late.
  changed_in xid8 not null default pg_current_xact_id()
);
create index tenant_facts_by_change on tenant_facts (changed_in);
alter table tenant_facts enable row level security;
alter table tenant_facts force row level security;
create policy tenant_isolation on tenant_facts
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For changed_tenants.
create policy tenant_versions_for_owner on tenant_facts for select to current_user using (true);
grant select, insert, update on tenant_facts to lanewise_service;

-- Inserts rows. Each of `tuples` has the values of one row as literals, separated by commas, in the order of `names`.
create function insert_rows(target text, names text, tuples text[]) returns void
  language plpgsql volatile
  as $$
  -- In the database because the text of the statement has the values: Citus reads from it which shard they belong to, and locks
  -- no other shard. The service could run the same statement itself, so this is no way around its rights.
  begin
    if cardinality(tuples) > 0 then
      execute format('insert into public.%I (%s) values (%s)', target, names, array_to_string(tuples, '),('));
    end if;
  end $$;
revoke all on function insert_rows(text, text, text[]) from public;
grant execute on function insert_rows(text, text, text[]) to lanewise_service;

-- Runs a query across all tenants. Its text has the name of each table in braces, and each of its rows is one array of numbers.
-- While workers of Citus are away (app.workers_away has their numbers), it asks each other worker for its own rows.
create function across_tenants(wanted text) returns setof integer[]
  language plpgsql stable
  as $$
  -- In the database because the functions that read across tenants call it, as their owner. Nobody else may: it runs any text.
  -- Citus fails a query if one worker does not answer, so the queries for single workers name the shards that these have.
  declare
    away constant text := nullif(current_setting('app.workers_away', true), '');
  begin
    if away is null then
      return query execute regexp_replace(wanted, '\{(\w+)\}', 'public.\1', 'g');
      return;
    end if;
    return query
      with named as (
        select distinct hit[1] as name from regexp_matches(wanted, '\{(\w+)\}', 'g') as hit
      ), of_shard as (
        select place.groupid, (
          select array_agg(array['{' || named.name || '}', format('public.%I', named.name || '_' || other.shardid)])
          from named join pg_dist_shard as other
            on other.logicalrelid = to_regclass('public.' || named.name) and other.shardminvalue = shard.shardminvalue
        ) as names
        from pg_dist_shard as shard join pg_dist_placement as place on place.shardid = shard.shardid
        where shard.logicalrelid = 'public.tenants'::regclass and place.groupid <> all (string_to_array(away, ',')::integer[])
      ), of_worker as (
        select node.nodename, node.nodeport, format(
          'select string_agg(numbers::text, '';'') from (%s) as every_shard (numbers)',
          string_agg('(' || public.with_names(wanted, of_shard.names) || ')', ' union all ')
        ) as command
        from of_shard join pg_dist_node as node on node.groupid = of_shard.groupid and node.noderole = 'primary'
        group by node.nodename, node.nodeport
      ), asked as (
        select array_agg(nodename) as names, array_agg(nodeport) as ports, array_agg(command) as commands from of_worker
      )
      select rows_of.numbers::integer[]
      from asked
      cross join lateral master_run_on_worker(asked.names, asked.ports, asked.commands, true) as answer
      cross join lateral string_to_table(answer.result, ';') as rows_of (numbers)
      where answer.success and answer.result <> '';
  end $$;

-- Replaces each first text of the pairs by the second one.
create function with_names(wanted text, pairs text[]) returns text
  language plpgsql immutable
  as $$
  -- In the database because across_tenants calls it.
  declare
    pair text[];
  begin
    foreach pair slice 1 in array pairs loop
      wanted := replace(wanted, pair[1], pair[2]);
    end loop;
    return wanted;
  end $$;
revoke all on function across_tenants(text), with_names(text, text[]) from public;

-- Returns the versions of all tenants that were changed in transaction `since` or a later one.
create function changed_tenants(since xid8)
  returns table (tenant_id integer, facts_version bigint, access_version bigint)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but version numbers. On Citus it reads the workers after the calling statement took its snapshot, and
  -- a worker commits before the coordinator, so it finds every transaction that the snapshot counts as ended.
  begin
    return query
      select known.tenant_id, known.facts_version, known.access_version
      from public.tenant_facts as known where known.changed_in >= since;
  end $$;
revoke all on function changed_tenants(xid8) from public;
grant execute on function changed_tenants(xid8) to lanewise_service;

-- The same for some tenants. On Citus it asks only their workers, so it works while other workers are away.
create function changed_tenants_among(since xid8, among integer[])
  returns table (tenant_id integer, facts_version bigint, access_version bigint)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database for the same reason. The statement is built from the list because Citus chooses the shards of a
  -- statement from values that are in its text; the list contains only integers.
  begin
    return query execute format(
      'select known.tenant_id, known.facts_version, known.access_version
       from public.tenant_facts as known where known.changed_in >= $1 and known.tenant_id = any (%L::integer[])', among)
      using since;
  end $$;
revoke all on function changed_tenants_among(xid8, integer[]) from public;
grant execute on function changed_tenants_among(xid8, integer[]) to lanewise_service;

-- Sets the tenant and the lock timeout on the Citus workers too, for this transaction.
create function set_tenant_on_workers(tenant text, lock_ms integer) returns void
  language plpgsql volatile
  as $$
  -- In the database, and apart from enter_tenant, because Citus propagates SET LOCAL (not set_config) to its workers, and
  -- only from a statement inside a function that another function calls.
  begin
    execute format('set local app.tenant_id = %L', tenant);
    execute format('set local lock_timeout = %L', lock_ms);
  end $$;
revoke all on function set_tenant_on_workers(text, integer) from public;
grant execute on function set_tenant_on_workers(text, integer) to lanewise_service;

-- Lets this transaction commit without waiting for the disk, on its Citus worker too: for records whose loss in a crash of the
-- database is acceptable.
create function commit_without_waiting() returns void
  language plpgsql volatile
  as $$
  -- In the database, and apart from the functions that call it, for the same reason as set_tenant_on_workers.
  begin
    set local synchronous_commit = off;
  end $$;
revoke all on function commit_without_waiting() from public;
grant execute on function commit_without_waiting() to lanewise_service;

-- Sets the tenant of this transaction and its timeouts, and returns the tenant.
create function enter_tenant(tenant text, statement_ms integer, lock_ms integer, idle_ms integer) returns text
  language plpgsql volatile
  as $$
  -- In the database because a call of one function can be part of the statement that it protects: setting the tenant
  -- costs no round trip, and the statement gets its tenant from the result, so it cannot run before the tenant is set.
  begin
    perform set_config('app.tenant_id', tenant, true), set_config('statement_timeout', statement_ms::text, true),
      set_config('lock_timeout', lock_ms::text, true),
      set_config('idle_in_transaction_session_timeout', idle_ms::text, true);
    if current_setting('citus.propagate_set_commands', true) is not null then
      perform set_config('citus.propagate_set_commands', 'local', true);
      perform public.set_tenant_on_workers(tenant, lock_ms);
    end if;
    return tenant;
  end $$;
revoke all on function enter_tenant(text, integer, integer, integer) from public;
grant execute on function enter_tenant(text, integer, integer, integer) to lanewise_service;

-- The functions *_batch do the same work for several tenants in one statement and one commit, each tenant under its own
-- isolation. A message and a commit cost more than most of that work. No tenant occurs twice in a batch. The result is a
-- JSON array with an item per tenant: [result], or null if the call failed or would have had to wait for a lock. The
-- caller then repeats a null item on its own. So no tenant waits for another one, and no failure undoes another tenant's
-- work.

-- Sets the next tenant of a batch. The lock timeout is 10 ms, so that no tenant waits for another tenant's locks.
create function switch_tenant(tenant integer) returns void
  language plpgsql volatile
  as $$
  -- In the database because the functions *_batch switch between tenants inside one statement.
  begin
    perform set_config('app.tenant_id', tenant::text, true), set_config('lock_timeout', '10', true);
  end $$;
revoke all on function switch_tenant(integer) from public;
grant execute on function switch_tenant(integer) to lanewise_service;

-- The weekly diesel prices that a tenant loaded, the U.S. average as the EIA publishes it.
create table diesel_prices (
  tenant_id integer not null references tenants,
  -- The Monday of the survey.
  week date not null,
  -- Tenths of a cent per gallon: the EIA publishes three decimals of a dollar.
  mills integer not null check (mills between 500 and 20000),
  primary key (tenant_id, week)
);
alter table diesel_prices enable row level security;
alter table diesel_prices force row level security;
create policy tenant_isolation on diesel_prices
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on diesel_prices to lanewise_service;

-- The fuel surcharge schedules of a tenant and of its customers, a row per period.
create table fuel_periods (
  tenant_id integer not null references tenants,
  -- The customer's name without surrounding spaces, in lower case. Empty for the schedule of the brokerage.
  customer_key text not null,
  customer_name text not null,
  from_day date not null,
  -- The last day of the period; null without an end.
  until_day date check (until_day >= from_day),
  -- How the surcharge follows from the diesel price: a base price with miles per gallon, or a table of steps.
  rule jsonb not null,
  primary key (tenant_id, customer_key, from_day)
);
alter table fuel_periods enable row level security;
alter table fuel_periods force row level security;
create policy tenant_isolation on fuel_periods
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on fuel_periods to lanewise_service;

-- The surcharge of each schedule on each day with a known diesel price, for the conversion of rates. It is computed
-- (engine/src/fuel-days.ts) whenever a price or a schedule changes. In a table, because statistics convert rates where the
-- rows are.
create table fuel_days (
  tenant_id integer not null references tenants,
  customer_key text not null,
  day date not null,
  mills_per_mile double precision not null check (mills_per_mile >= 0),
  primary key (tenant_id, customer_key, day)
);
alter table fuel_days enable row level security;
alter table fuel_days force row level security;
create policy tenant_isolation on fuel_days
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on fuel_days to lanewise_service;

-- The exchange rates that a tenant entered, for each day until the next one or for a month (engine/src/exchange-days.ts). Without
-- a rate, amounts in Canadian dollars are kept out of statistics.
create table exchange_days (
  tenant_id integer not null references tenants,
  day date not null,
  usd_per_cad double precision not null check (usd_per_cad between 0.4 and 1.2),
  -- The day for which the rate was entered.
  published date not null,
  primary key (tenant_id, day)
);
alter table exchange_days enable row level security;
alter table exchange_days force row level security;
create policy tenant_isolation on exchange_days
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on exchange_days to lanewise_service;
