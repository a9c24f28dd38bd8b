-- Assistants that people connect over OAuth (docs/decisions/0147-assistants-are-sessions.md). An assistant is a session of its person; this
-- row says what the session may be used with. The version before knows none of it.
create table assistants (
  tenant_id integer not null,
  session_id uuid not null,
  -- SHA-256 of the client's id, which states its name and addresses.
  client_hash bytea not null check (length(client_hash) = 32),
  client_name text not null,
  redirect_uri text not null,
  -- Of PKCE: BASE64URL(SHA256(verifier)).
  code_challenge text not null,
  -- The authorization code is used once, before this.
  code_until timestamptz not null,
  code_used_at timestamptz,
  -- The number of the refresh token that is accepted; an earlier one is a copy.
  refresh_number integer not null default 0,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, session_id) references sessions
);
alter table assistants enable row level security;
alter table assistants force row level security;
create policy tenant_isolation on assistants
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on assistants to lanewise_service;
