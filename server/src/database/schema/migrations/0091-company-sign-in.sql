-- Sign-in through the identity provider of a brokerage's company, with OpenID Connect: the provider, the domains that the company has
-- proven, and the accounts of the provider (docs/decisions/0146-company-sign-in.md). The version before knows none of it: while it runs,
-- it accepts passwords of a brokerage that requires company sign-in.

-- The provider. A brokerage has one, with the number 1.
create table company_sign_ins (
  tenant_id integer not null references tenants,
  secret_id integer not null check (secret_id = 1),
  issuer text not null,
  client_id text not null,
  -- Issuer, client id and secret, encrypted: a secret never goes to an issuer that it was not entered for.
  sealed bytea not null,
  -- Passwords are refused, except that of the person below.
  is_required boolean not null,
  break_glass_user_id integer,
  -- Whether somebody without an account gets one at the first sign-in.
  makes_accounts boolean not null,
  -- The role of a person who is in none of the groups. Null: they are refused.
  role_without_group text check (role_without_group in ('viewer', 'member', 'admin')),
  -- What groups of the provider mean: [{"group": ..., "role": ..., "team_id": ... or null}].
  group_roles jsonb not null,
  -- Whether an owner set this issuer and client. Otherwise owners do not sign in through it: an admin could make a provider say that
  -- they are an owner.
  set_by_owner boolean not null,
  set_at timestamptz not null,
  -- When somebody last signed in through this issuer and client. Null: it is not known to work.
  worked_at timestamptz,
  primary key (tenant_id, secret_id),
  foreign key (tenant_id, break_glass_user_id) references users
);
alter table company_sign_ins enable row level security;
alter table company_sign_ins force row level security;
create policy tenant_isolation on company_sign_ins
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on company_sign_ins to lanewise_service;

-- The domains of e-mail addresses, and the text that a DNS record must have.
create table company_domains (
  tenant_id integer not null references tenants,
  domain text not null,
  challenge text not null,
  added_at timestamptz not null,
  checked_at timestamptz,
  -- Null: not proven. Nobody signs in with an address of such a domain.
  proven_at timestamptz,
  primary key (tenant_id, domain)
);
create index company_domains_proven on company_domains (domain) where proven_at is not null;
alter table company_domains enable row level security;
alter table company_domains force row level security;
create policy tenant_isolation on company_domains
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For companies_of_domain.
create policy proven_domains_for_owner on company_domains for select to current_user using (true);
grant select, insert, update, delete on company_domains to lanewise_service;

-- The account of a person at a provider. Once it is known, the account decides, not its e-mail address.
create table company_identities (
  tenant_id integer not null,
  user_id integer not null,
  issuer text not null,
  subject text not null,
  linked_at timestamptz not null,
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users
);
create unique index company_identities_once on company_identities (tenant_id, issuer, subject);
alter table company_identities enable row level security;
alter table company_identities force row level security;
create policy tenant_isolation on company_identities
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on company_identities to lanewise_service;

-- The states of sign-ins that came back, so that each comes back once, over all instances. A state is signed, so nothing is stored
-- before.
create table used_company_states (
  tenant_id integer not null references tenants,
  state_hash bytea not null check (length(state_hash) = 32),
  expires_at timestamptz not null,
  primary key (tenant_id, state_hash)
);
alter table used_company_states enable row level security;
alter table used_company_states force row level security;
create policy tenant_isolation on used_company_states
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on used_company_states to lanewise_service;

-- The tenants that have proven a domain.
create function companies_of_domain(asked text) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[known.tenant_id] from {company_domains} as known
        where known.domain = %L and known.proven_at is not null
      $query$, asked)) as one (numbers);
  end $$;
revoke all on function companies_of_domain(text) from public;
grant execute on function companies_of_domain(text) to lanewise_service;

-- Whether the session began through the company's provider.
alter table sessions add column by_company boolean not null default false;
