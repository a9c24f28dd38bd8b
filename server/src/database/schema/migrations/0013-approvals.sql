-- Quotes outside the pricing rules that wait for an approval, and what became of them. No quote exists before it is approved.

create table approvals (
  tenant_id integer not null references tenants,
  approval_id integer not null,
  -- A request is expired from expires_at on; that is stored within a minute or two.
  state text not null check (
    state in ('waiting', 'approved', 'rejected', 'countered', 'accepted', 'withdrawn', 'expired')
  ),
  -- The request as it was sent: a quote request, or a lane_ref and its requote.
  asked jsonb not null,
  -- Why it needs approval, in words.
  reasons jsonb not null,
  note text,
  requested_by integer not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  decided_by integer,
  decided_at timestamptz,
  decision_note text,
  -- The rates that the approver would approve, in cents, one for each lane.
  counter_cents jsonb,
  -- The quotes that were made.
  lane_refs jsonb,
  primary key (tenant_id, approval_id),
  foreign key (tenant_id, requested_by) references users,
  foreign key (tenant_id, decided_by) references users
);
-- Requests that may have expired.
create index approvals_undecided on approvals (tenant_id, expires_at) where state in ('waiting', 'countered');
alter table approvals enable row level security;
alter table approvals force row level security;
-- With the condition of teams (0012-customers.sql).
create policy tenant_isolation on approvals
  using (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(coalesce(asked ->> 'customerName', asked -> 'body' ->> 'customer_name')))
  )
  with check (
    tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer
    and is_seen(customer_key(coalesce(asked ->> 'customerName', asked -> 'body' ->> 'customer_name')))
  );
grant select, insert, update on approvals to lanewise_service;
-- For tenants_with_ended_approvals.
create policy approvals_for_owner on approvals for select to current_user using (true);

-- The tenants with a request that nobody decided in time.
create function tenants_with_ended_approvals() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants. Undecided requests are few.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[approval.tenant_id] from {approvals} as approval
        where approval.state in ('waiting', 'countered') and approval.expires_at <= %L::timestamptz
      $query$, clock_timestamp())) as one (numbers);
  end $$;
revoke all on function tenants_with_ended_approvals() from public;
grant execute on function tenants_with_ended_approvals() to lanewise_service;
