-- The audit log: sign-ins, changes of people and credentials, refusals. Each row contains the hash of the row before it in
-- its own hash, so nobody can change or remove a row unnoticed, not even a superuser. The service can only add rows.

create table audit_log (
  tenant_id integer not null references tenants,
  entry_number bigint not null check (entry_number >= 1),
  at timestamptz not null,
  kind text not null,
  -- Who did it. Null for the operator of the service, and for callers that did not authenticate. No foreign keys: a refusal
  -- must be recorded even if a restored database lacks the person or the token.
  user_id integer,
  token_id integer,
  -- The person that it was done to.
  subject_user_id integer,
  -- JSON, stored as the exact text that was hashed.
  about text not null,
  -- Refusals of one kind within a minute share a row.
  count integer not null check (count >= 1),
  network text,
  request_id uuid,
  hash bytea not null check (length(hash) = 32),
  primary key (tenant_id, entry_number)
);
create index audit_log_by_kind on audit_log (tenant_id, kind, entry_number);
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy tenant_isolation on audit_log
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert on audit_log to lanewise_service;
