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
