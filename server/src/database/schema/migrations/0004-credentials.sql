-- Credentials of integrations: service tokens, and the secrets that sign shipment updates.

create table service_tokens (
  tenant_id integer not null,
  token_id integer not null,
  jti uuid not null,
  name text not null,
  scope text not null,
  user_id integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_from text,
  -- The name of the installation's key that signed the token. The tokens of a key that is removed stop working. Null: the
  -- token was made before keys had names.
  signed_with text,
  primary key (tenant_id, token_id),
  unique (tenant_id, jti),
  foreign key (tenant_id, user_id) references users
);
alter table service_tokens enable row level security;
alter table service_tokens force row level security;
create policy tenant_isolation on service_tokens
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on service_tokens to lanewise_service;

create table signing_secrets (
  tenant_id integer not null references tenants,
  secret_id integer not null,
  name text not null,
  -- The secret, encrypted with a key that is not in the database. It is not hashed: verifying an HMAC needs the secret.
  sealed bytea not null,
  created_by integer not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (tenant_id, secret_id),
  foreign key (tenant_id, created_by) references users (tenant_id, user_id)
);
alter table signing_secrets enable row level security;
alter table signing_secrets force row level security;
create policy tenant_isolation on signing_secrets
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update on signing_secrets to lanewise_service;

-- Records when and from which network a token was last used.
create function note_token_use(tenant integer, token integer, used_at timestamptz, network text) returns void
  language plpgsql volatile
  as $$
  -- In the database so that recording a use is one message instead of three (begin, update, commit), and so that the
  -- function below records uses of several tenants in one message and one commit. It does not wait for the disk: a crash
  -- may lose the last uses.
  begin
    perform public.commit_without_waiting();
    update public.service_tokens set last_used_at = used_at, last_used_from = network
    where tenant_id = tenant and token_id = token;
  end $$;
revoke all on function note_token_use(integer, integer, timestamptz, text) from public;
grant execute on function note_token_use(integer, integer, timestamptz, text) to lanewise_service;

create function note_token_use_batch(tenants integer[], tokens integer[], used_at timestamptz[], networks text[])
  returns json
  language plpgsql volatile
  as $$
  -- In the database for one round trip and one commit for several tenants (see switch_tenant).
  declare
    results json[] := '{}';
  begin
    for nth in 1 .. cardinality(tenants) loop
      perform public.switch_tenant(tenants[nth]);
      begin
        perform public.note_token_use(tenants[nth], tokens[nth], used_at[nth], networks[nth]);
        results[nth] := '[null]';
      exception when others then
        results[nth] := null;
      end;
    end loop;
    return array_to_json(results);
  end $$;
revoke all on function note_token_use_batch(integer[], integer[], timestamptz[], text[]) from public;
grant execute on function note_token_use_batch(integer[], integer[], timestamptz[], text[]) to lanewise_service;

-- Records when a signing secret was last used.
create function note_secret_use(tenant integer, secret integer, used_at timestamptz) returns void
  language plpgsql volatile
  as $$
  -- In the database for the same reasons as note_token_use.
  begin
    perform public.commit_without_waiting();
    update public.signing_secrets set last_used_at = used_at where tenant_id = tenant and secret_id = secret;
  end $$;
revoke all on function note_secret_use(integer, integer, timestamptz) from public;
grant execute on function note_secret_use(integer, integer, timestamptz) to lanewise_service;

create function note_secret_use_batch(tenants integer[], secrets integer[], used_at timestamptz[]) returns json
  language plpgsql volatile
  as $$
  -- In the database for one round trip and one commit for several tenants (see switch_tenant).
  declare
    results json[] := '{}';
  begin
    for nth in 1 .. cardinality(tenants) loop
      perform public.switch_tenant(tenants[nth]);
      begin
        perform public.note_secret_use(tenants[nth], secrets[nth], used_at[nth]);
        results[nth] := '[null]';
      exception when others then
        results[nth] := null;
      end;
    end loop;
    return array_to_json(results);
  end $$;
revoke all on function note_secret_use_batch(integer[], integer[], timestamptz[]) from public;
grant execute on function note_secret_use_batch(integer[], integer[], timestamptz[]) to lanewise_service;
