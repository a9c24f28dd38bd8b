-- Quotes outside the pricing rules that wait for an approval, and what became of them. No quote exists before it is approved.

create table approvals (
  tenant_id integer not null references tenants,
  approval_id integer not null,
  -- Expired is not stored: it follows from expires_at.
  state text not null check (state in ('waiting', 'approved', 'rejected', 'countered', 'accepted', 'withdrawn')),
  -- The request as it was sent: a quote request, or the lane_ref and a further quote of it.
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
