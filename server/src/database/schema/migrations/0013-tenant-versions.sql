-- What a process may keep in memory of a tenant, and how it learns that it is old: beside the version of a tenant's facts
-- one of its access (tokens, secrets, people's roles, the brokerage's status and settings), and the transaction that moved
-- either last. And how many quotes a tenant has won and decided: every lane is measured against its brokerage, and
-- counting a million rows for each answer is too slow.

alter table tenant_facts
  add column access_version bigint not null default 0,
  add column won_quotes bigint not null default 0,
  add column decided_quotes bigint not null default 0,
  -- A process asks for all that moved in a transaction it could not see when it last asked: nothing can slip between two
  -- questions, as it could by a time.
  add column changed_in xid8 not null default pg_current_xact_id();
create index tenant_facts_by_change on tenant_facts (changed_in);

-- The counts of what is there. The walls stand against the owner, too; they are opened for these statements only.
alter table tenant_facts no force row level security;
alter table lanes no force row level security;
insert into tenant_facts (tenant_id, facts_version, won_quotes, decided_quotes)
select tenant_id, 1, count(*) filter (where outcome = 'won'), count(*) filter (where outcome <> 'pending')
from lanes
group by tenant_id
on conflict (tenant_id) do update set
  facts_version = tenant_facts.facts_version + 1,
  won_quotes = excluded.won_quotes,
  decided_quotes = excluded.decided_quotes;
alter table lanes force row level security;
alter table tenant_facts force row level security;

-- The one question about all tenants at once: which have moved on, and to which version. Numbers that say nothing of a
-- tenant but that something changed; who asks is the service itself, never for a caller.
create policy tenant_versions_for_owner on tenant_facts for select to current_user using (true);
create function changed_tenants(since xid8)
  returns table (tenant_id integer, facts_version bigint, access_version bigint)
  language sql stable security definer set search_path = pg_catalog, public
  as $$
    select tenant_id, facts_version, access_version from public.tenant_facts where changed_in >= since
  $$;
revoke all on function changed_tenants(xid8) from public;
grant execute on function changed_tenants(xid8) to lanewise_service;
