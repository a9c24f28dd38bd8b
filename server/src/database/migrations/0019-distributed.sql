-- What a distributed PostgreSQL (Citus) needs to be told, and what is as good on any other. Rows of a tenant lie together on
-- one of its workers; the one that is asked plans, and hands on.

-- Opens the wall of a tenant for this transaction, and sets how long it may take. A worker asks its own walls, so it must
-- have them open, too: what is set by SET LOCAL is handed on to it, what is set by set_config is not.
create function enter_tenant(tenant text, statement_ms integer, lock_ms integer, idle_ms integer) returns text
  language plpgsql volatile
  as $$
  begin
    perform set_config('app.tenant_id', tenant, true), set_config('statement_timeout', statement_ms::text, true),
      set_config('lock_timeout', lock_ms::text, true),
      set_config('idle_in_transaction_session_timeout', idle_ms::text, true);
    if current_setting('citus.propagate_set_commands', true) is not null then
      perform set_config('citus.propagate_set_commands', 'local', true);
      execute format('set local app.tenant_id = %L', tenant);
      execute format('set local lock_timeout = %L', lock_ms);
    end if;
    return tenant;
  end $$;
revoke all on function enter_tenant(text, integer, integer, integer) from public;
grant execute on function enter_tenant(text, integer, integer, integer) to lanewise_service;
