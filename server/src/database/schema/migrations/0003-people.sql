-- People, their e-mail addresses for sign-in, and their sessions.

create table users (
  tenant_id integer not null references tenants,
  user_id integer not null,
  name text not null,
  email text not null,
  role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
  status text not null check (status in ('active', 'invited', 'removed')),
  password_hash text,
  invitation_hash bytea,
  invitation_expires_at timestamptz,
  -- Who invited the person: the page of the invitation says so.
  invited_by integer,
  created_at timestamptz not null,
  primary key (tenant_id, user_id)
);
alter table users enable row level security;
alter table users force row level security;
create policy tenant_isolation on users
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on users to lanewise_service;

-- The person that an e-mail address signs in. It has no row-level security, because sign-in reads it before the tenant is
-- known. The service has no right to the table: it calls the three functions below.
create table sign_in_emails (
  email_folded text primary key,
  tenant_id integer not null,
  user_id integer not null
);

-- Returns the person that an e-mail address signs in.
create function sign_in_of(email text) returns table (tenant_id integer, user_id integer)
  language sql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that the service can look up one
  -- address and cannot list the table.
  select e.tenant_id, e.user_id from public.sign_in_emails e where e.email_folded = $1
  $$;
revoke all on function sign_in_of(text) from public;
grant execute on function sign_in_of(text) to lanewise_service;

-- Assigns an address to a person of this transaction's tenant. Returns false if another person has it.
create function claim_sign_in(email text, for_tenant integer, for_user integer) returns boolean
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
  -- In the database because an address is unique across all tenants: security definer, so that the service can claim an
  -- address for its own tenant only.
  with claimed as (
    insert into public.sign_in_emails
    select $1, $2, $3 where $2 = nullif(current_setting('app.tenant_id', true), '')::integer
    on conflict do nothing returning 1
  )
  select exists (select 1 from claimed)
      or exists (select 1 from public.sign_in_emails e
                 where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3)
  $$;
revoke all on function claim_sign_in(text, integer, integer) from public;
grant execute on function claim_sign_in(text, integer, integer) to lanewise_service;

-- Takes an address back from a person of this transaction's tenant.
create function release_sign_in(email text, of_tenant integer, of_user integer) returns void
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
  -- In the database for the same reason as claim_sign_in: the service can release an address of its own tenant only.
  delete from public.sign_in_emails e
  where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3
    and $2 = nullif(current_setting('app.tenant_id', true), '')::integer
  $$;
revoke all on function release_sign_in(text, integer, integer) from public;
grant execute on function release_sign_in(text, integer, integer) to lanewise_service;

-- Returns each worker of Citus with the number of brokerages with people whose rows it has. Only on a database with Citus.
create function brokerages_of_workers() returns table (group_id integer, worker text, brokerages bigint)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it counts across all tenants: security definer, so that it passes tenant isolation and returns
  -- nothing but counts. The addresses are on the coordinator, so it works while a worker is away.
  begin
    return query
      select node.groupid, node.nodename || ':' || node.nodeport, count(placed.tenant_id)
      from pg_dist_node as node
      left join (
        select known.tenant_id, place.groupid
        from (
          -- Not merged into the join, which would call this volatile function for each tenant and each shard.
          select e.tenant_id, get_shard_id_for_distribution_column('public.tenants'::regclass, e.tenant_id) as shardid
          from (select distinct tenant_id from public.sign_in_emails) as e
          offset 0
        ) as known
        join pg_dist_placement as place on place.shardid = known.shardid
      ) as placed on placed.groupid = node.groupid
      where node.noderole = 'primary' and node.groupid <> 0
      group by node.groupid, node.nodename, node.nodeport order by node.groupid;
  end $$;
revoke all on function brokerages_of_workers() from public;
grant execute on function brokerages_of_workers() to lanewise_service;

create table sessions (
  tenant_id integer not null,
  session_id uuid not null,
  user_id integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, user_id) references users
);
create index sessions_by_user on sessions (tenant_id, user_id);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy tenant_isolation on sessions
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on sessions to lanewise_service;

-- How a person sees the list of quotes: saved views, columns, and the age at which a pending quote is listed as too old.
create table quote_list_settings (
  tenant_id integer not null,
  user_id integer not null,
  -- The number of the last change, so that an older page does not overwrite it.
  version integer not null,
  settings jsonb not null,
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users
);
alter table quote_list_settings enable row level security;
alter table quote_list_settings force row level security;
create policy tenant_isolation on quote_list_settings
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on quote_list_settings to lanewise_service;
