-- A second factor of a person (a code of an authenticator app), its recovery codes, and who must have one
-- (docs/decisions/0142-second-factor.md).

-- The secret of a person's authenticator app, encrypted.
create table second_factors (
  tenant_id integer not null,
  user_id integer not null,
  sealed bytea not null,
  added_at timestamptz not null,
  -- When its first code was given. Null: it is not asked for yet.
  confirmed_at timestamptz,
  -- The newest period of 30 seconds whose code was used: a code is used once.
  last_step bigint not null default 0,
  primary key (tenant_id, user_id),
  foreign key (tenant_id, user_id) references users
);
alter table second_factors enable row level security;
alter table second_factors force row level security;
create policy tenant_isolation on second_factors
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on second_factors to lanewise_service;

-- Codes that replace a lost app, each once. Only their hashes: a code has 80 random bits.
create table recovery_codes (
  tenant_id integer not null,
  user_id integer not null,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (tenant_id, user_id, code_hash),
  foreign key (tenant_id, user_id) references users
);
alter table recovery_codes enable row level security;
alter table recovery_codes force row level security;
create policy tenant_isolation on recovery_codes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on recovery_codes to lanewise_service;

-- When the second factor was last given in a session. Null: never.
alter table sessions add column factor_at timestamptz;
-- This role and those above it need a second factor. Null: nobody does.
alter table tenants add column second_factor_from text;
