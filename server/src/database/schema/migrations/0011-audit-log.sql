-- What happened to the keys of the house: sign-ins, people, credentials, refusals. Append-only for the service, and each
-- row holds the hash of the row before it with its own, so that nobody changes or removes one unseen, not even who may
-- write to every table. `about` is kept as the text that was hashed, byte for byte.
create table audit_log (
  tenant_id integer not null references tenants,
  entry_number bigint not null check (entry_number >= 1),
  at timestamptz not null,
  kind text not null,
  -- Who did it; null for the operator of the service and where nobody proved who they are. No foreign key: what a
  -- restored database knows of a person or a token must not keep a refusal out of the log.
  user_id integer,
  token_id integer,
  -- Whom it was done to.
  subject_user_id integer,
  about text not null,
  -- Refusals of one kind within a minute are one row.
  count integer not null check (count >= 1),
  network text,
  request_id uuid,
  hash bytea not null check (length(hash) = 32),
  primary key (tenant_id, entry_number)
);
create index audit_log_by_kind on audit_log (tenant_id, kind, entry_number);
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy tenant_wall on audit_log for all
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert on audit_log to lanewise_service;

-- Which of the installation's keys signed a token, so that an operator who drops a key knows whom that ends. Null: made
-- before keys had names.
alter table service_tokens add column signed_with text;
-- The names of the keys that the service was last started with: secrets are sealed anew only with a key it knows.
alter table installation add column key_names text not null default '';
grant update (key_names) on installation to lanewise_service;
