-- Passkeys as a second factor, and for signing in without a password (docs/decisions/0148-passkeys.md).

create table passkeys (
  tenant_id integer not null,
  passkey_id integer not null,
  user_id integer not null,
  -- The id that the authenticator gave it. A browser returns it with each signature.
  credential_id bytea not null check (length(credential_id) between 1 and 1023),
  -- The host that it was made for. A browser uses it there only.
  rp_id text not null,
  public_key bytea not null,
  -- The count of signatures that the authenticator last reported; 0 if it does not count.
  sign_count bigint not null,
  -- How a browser reaches the authenticator, separated by spaces, such as "internal hybrid".
  transports text not null,
  -- Whether its maker keeps a copy, so that a lost device does not lose it.
  synced boolean not null,
  name text not null,
  added_at timestamptz not null,
  last_used_at timestamptz,
  primary key (tenant_id, passkey_id),
  unique (tenant_id, credential_id),
  foreign key (tenant_id, user_id) references users
);
create index passkeys_of_user on passkeys (tenant_id, user_id);
alter table passkeys enable row level security;
alter table passkeys force row level security;
create policy tenant_isolation on passkeys
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on passkeys to lanewise_service;

-- Challenges that were answered, until they expire: a challenge is answered once.
create table used_challenges (
  tenant_id integer not null,
  challenge bytea not null check (length(challenge) = 32),
  expires_at timestamptz not null,
  primary key (tenant_id, challenge)
);
alter table used_challenges enable row level security;
alter table used_challenges force row level security;
create policy tenant_isolation on used_challenges
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on used_challenges to lanewise_service;
