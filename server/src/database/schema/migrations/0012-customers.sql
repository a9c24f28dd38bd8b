-- Customers as records, the names that they have, and the teams that see them.

-- A customer that a person has said something about. A name that only quotes have is a customer, too: it has no row here.
create table customers (
  tenant_id integer not null references tenants,
  customer_id integer not null,
  -- As a person or a quote wrote it.
  name text not null,
  tier text check (length(tier) between 1 and 40),
  -- The days in which the customer pays.
  payment_days integer check (payment_days between 0 and 365),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, customer_id)
);
alter table customers enable row level security;
alter table customers force row level security;
create policy tenant_isolation on customers
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on customers to lanewise_service;

-- The customer of a name, by the key of the name: a row for the own name of each customer. A merge changes these rows and no
-- quote, so undoing it restores exactly what was before, whatever was quoted in between.
create table customer_aliases (
  tenant_id integer not null,
  customer_key text not null,
  name text not null,
  -- The customer that has this name itself.
  own_id integer not null,
  -- The customer that quotes with this name count for, and the key of its name: after merges, the one at the end.
  customer_id integer not null,
  main_key text not null,
  -- The customer that this one was merged into; null if it was not.
  merged_into integer,
  merged_at timestamptz,
  merged_by integer,
  primary key (tenant_id, customer_key),
  unique (tenant_id, own_id),
  foreign key (tenant_id, own_id) references customers,
  foreign key (tenant_id, customer_id) references customers,
  check ((merged_into is null) = (merged_at is null))
);
create index customer_aliases_by_customer on customer_aliases (tenant_id, customer_id);
alter table customer_aliases enable row level security;
alter table customer_aliases force row level security;
create policy tenant_isolation on customer_aliases
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on customer_aliases to lanewise_service;

-- Two names that a person said are different customers: they are not offered for merging again. Keys of names, in the order of "C".
create table customer_distinctions (
  tenant_id integer not null references tenants,
  one_key text not null,
  other_key text not null,
  made_at timestamptz not null,
  made_by integer,
  primary key (tenant_id, one_key, other_key),
  check (one_key < other_key collate "C")
);
alter table customer_distinctions enable row level security;
alter table customer_distinctions force row level security;
create policy tenant_isolation on customer_distinctions
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on customer_distinctions to lanewise_service;

-- A team: people, and the customers that only they see. Admins and owners see every customer.
create table teams (
  tenant_id integer not null references tenants,
  team_id integer not null,
  name text not null check (length(name) between 1 and 100),
  created_at timestamptz not null,
  primary key (tenant_id, team_id),
  unique (tenant_id, name)
);
alter table teams enable row level security;
alter table teams force row level security;
create policy tenant_isolation on teams
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on teams to lanewise_service;

create table team_members (
  tenant_id integer not null,
  team_id integer not null,
  user_id integer not null,
  primary key (tenant_id, team_id, user_id),
  foreign key (tenant_id, team_id) references teams,
  foreign key (tenant_id, user_id) references users
);
create index team_members_by_user on team_members (tenant_id, user_id);
alter table team_members enable row level security;
alter table team_members force row level security;
create policy tenant_isolation on team_members
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on team_members to lanewise_service;

-- A customer may be in several teams: it is visible to the members of each.
create table team_customers (
  tenant_id integer not null,
  team_id integer not null,
  customer_id integer not null,
  primary key (tenant_id, team_id, customer_id),
  foreign key (tenant_id, team_id) references teams,
  foreign key (tenant_id, customer_id) references customers
);
create index team_customers_by_customer on team_customers (tenant_id, customer_id);
alter table team_customers enable row level security;
alter table team_customers force row level security;
create policy tenant_isolation on team_customers
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on team_customers to lanewise_service;

-- Hides the customers of teams that a person is not a member of, for this transaction: app.hidden_customers has the keys of their
-- names, each between two line breaks. Also on the Citus workers.
create function enter_person(person integer) returns void
  language plpgsql volatile
  as $$
  -- In the database because it runs in the message that opens the transaction, and because the policies below must not depend
  -- on a list that the service made.
  declare
    hidden text;
  begin
    select E'\n' || string_agg(known.customer_key, E'\n') || E'\n' into hidden
    from public.customer_aliases as known
    where known.tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
      and exists (
        select from public.team_customers as of_team
        where of_team.tenant_id = known.tenant_id and of_team.customer_id = known.customer_id
      )
      and not exists (
        select from public.team_customers as of_team
        join public.team_members as mine on mine.tenant_id = of_team.tenant_id and mine.team_id = of_team.team_id
        where of_team.tenant_id = known.tenant_id and of_team.customer_id = known.customer_id and mine.user_id = person
      );
    perform set_config('app.hidden_customers', coalesce(hidden, ''), true);
    if hidden is not null and current_setting('citus.propagate_set_commands', true) is not null then
      perform public.hide_customers_on_workers(hidden);
    end if;
  end $$;

create function hide_customers_on_workers(hidden text) returns void
  language plpgsql volatile
  as $$
  -- In the database for the same reason as set_tenant_on_workers.
  begin
    execute format('set local app.hidden_customers = %L', hidden);
  end $$;
revoke all on function enter_person(integer), hide_customers_on_workers(text) from public;
grant execute on function enter_person(integer), hide_customers_on_workers(text) to lanewise_service;

-- Whether the current person may see a customer, by the key of its name.
create function is_seen(customer_key text) returns boolean
  language sql stable parallel safe
  as $$
  -- In the database because the policies below call it.
  select coalesce(current_setting('app.hidden_customers', true), '') = ''
    or strpos(current_setting('app.hidden_customers', true), E'\n' || customer_key || E'\n') = 0 $$;
revoke all on function is_seen(text) from public;
grant execute on function is_seen(text) to lanewise_service;

-- Part of tenant_isolation, because Citus makes a restrictive policy permissive on its workers. The changes, updates and versions
-- of a lane are read only with the lane. customer_aliases has no such condition: the queries read it to know what is hidden, and
-- must work without these policies. A booking may name another customer than the quote: both must be visible.
alter policy tenant_isolation on lanes
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key) and (customer_name is null or is_seen(customer_key(quoted_customer_name)))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key) and (customer_name is null or is_seen(customer_key(quoted_customer_name)))
  );
alter policy tenant_isolation on quote_requests
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  );
alter policy tenant_isolation on customers
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(name))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(name))
  );
alter policy tenant_isolation on customer_distinctions
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(one_key) and is_seen(other_key)
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(one_key) and is_seen(other_key)
  );
alter policy tenant_isolation on fuel_periods
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(customer_name))
  );
