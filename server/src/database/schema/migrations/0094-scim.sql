-- What a directory that manages people over SCIM says of them and of groups (docs/decisions/0149-scim.md).

-- The names that the directory has for people and groups: "user-4", "role-admin", "team-7".
create table scim_names (
  tenant_id integer not null,
  resource text not null,
  external_id text not null,
  primary key (tenant_id, resource)
);
alter table scim_names enable row level security;
alter table scim_names force row level security;
create policy tenant_isolation on scim_names
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on scim_names to lanewise_service;

-- Who is in the groups that stand for roles. A person has the highest role of theirs.
create table scim_role_members (
  tenant_id integer not null,
  role text not null check (role in ('admin', 'member', 'viewer')),
  user_id integer not null,
  primary key (tenant_id, role, user_id),
  foreign key (tenant_id, user_id) references users
);
alter table scim_role_members enable row level security;
alter table scim_role_members force row level security;
create policy tenant_isolation on scim_role_members
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on scim_role_members to lanewise_service;
