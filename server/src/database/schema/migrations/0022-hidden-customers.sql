-- Teams at their limits: 50 teams with 500 customers each. For each row, the policies searched one text of all hidden names, so a
-- person from whom a full team was hidden got no list in time. Now a statement has the hidden names as a constant, and PostgreSQL
-- looks each row up in a hash table (docs/decisions/0070-customers.md).

-- The keys of the customers that are hidden in this transaction; null if none is.
create function hidden_keys() returns text[]
  language sql immutable parallel safe
  as $$
  -- In the database because the policies call it. It is declared immutable although it reads a setting, because PostgreSQL hashes an
  -- array only if it is a constant of the plan. `is_seen` refuses a plan that was made with other names.
  select string_to_array(nullif(current_setting('app.hidden_customers', true), ''), E'\n') $$;

-- What is hidden in this transaction: the tenant, the version of its teams, and the person; empty if nothing is.
create function hiding() returns text
  language sql immutable parallel safe
  as $$
  -- In the database because the policies call it. Immutable like hidden_keys: the plan has the value with which it was made.
  select coalesce(current_setting('app.hiding', true), '') $$;

-- Ends a statement whose plan was made for another person. Never true.
create function refuse_plan_of_another() returns boolean
  language plpgsql stable parallel safe
  as $$
  -- In the database because the policies call it.
  begin
    raise exception 'This plan hides the customers of another person.'
      using hint = 'PostgreSQL keeps the plan of a statement without parameters. Give the statement a parameter.';
  end $$;

create or replace function is_seen(customer_key text) returns boolean
  language sql stable parallel safe
  as $$
  -- In the database because the policies call it. Without the inner `case`, the planner estimates how often each hidden name
  -- occurs. A row without a name is hidden.
  select case when hiding() = coalesce(current_setting('app.hiding', true), '')
    then hiding() = '' or case customer_key = any (hidden_keys()) when false then true else false end
    else refuse_plan_of_another() end $$;

drop function hide_customers_on_workers(text);
create function hide_customers_on_workers(hidden text, of_whom text) returns void
  language plpgsql volatile
  as $$
  -- In the database for the same reason as set_tenant_on_workers.
  begin
    execute format('set local app.hidden_customers = %L', hidden);
    execute format('set local app.hiding = %L', of_whom);
  end $$;

-- Hides the customers of teams that a person is not a member of, for this transaction: app.hidden_customers has the keys of their
-- names, separated by line breaks. Also on the Citus workers. The keys of each team stay in the settings of the connection until
-- the brokerage's access changes: reading 25,000 names in each transaction would take longer than most pages.
create or replace function enter_person(person integer) returns void
  language plpgsql volatile
  as $$
  -- In the database because it runs in the message that opens the transaction, and because the policies must not depend on a list
  -- that the service made.
  declare
    entered constant integer := nullif(current_setting('app.tenant_id', true), '')::integer;
    read_at text;
    of_team record;
    team_ids integer[] := '{}';
    mine integer[];
    shared text[];
    hidden text;
  begin
    perform set_config('app.hidden_customers', '', true), set_config('app.hiding', '', true);
    if not exists (select from public.team_customers where tenant_id = entered) then
      return;
    end if;
    -- The version is read first: if teams change in between, the next transaction reads them again.
    select entered || ':' || access_version into read_at from public.tenant_facts where tenant_id = entered;
    read_at := coalesce(read_at, entered || ':0');
    if current_setting('app.teams_of', true) is distinct from read_at then
      for of_team in
        select listed.team_id, string_agg(known.customer_key, E'\n') as keys
        from public.team_customers as listed
        join public.customer_aliases as known
          on known.tenant_id = listed.tenant_id and known.customer_id = listed.customer_id
        where listed.tenant_id = entered group by listed.team_id
      loop
        team_ids := team_ids || of_team.team_id;
        perform set_config('app.team_keys_' || cardinality(team_ids), of_team.keys, false);
      end loop;
      perform set_config('app.team_ids', team_ids::text, false), set_config('app.teams_of', read_at, false);
    end if;
    select coalesce(array_agg(team_id), '{}') into mine
    from public.team_members where tenant_id = entered and user_id = person;
    select string_agg(current_setting('app.team_keys_' || nth), E'\n') into hidden
    from unnest(current_setting('app.team_ids')::integer[]) with ordinality as kept (team_id, nth)
    where kept.team_id <> all (mine);
    if hidden is not null and cardinality(mine) > 0 then
      select array_agg(known.customer_key) into shared
      from public.team_customers as own
      join public.team_customers as other
        on other.tenant_id = own.tenant_id and other.customer_id = own.customer_id and other.team_id <> all (mine)
      join public.customer_aliases as known
        on known.tenant_id = own.tenant_id and known.customer_id = own.customer_id
      where own.tenant_id = entered and own.team_id = any (mine);
      if shared is not null then
        select string_agg(key, E'\n') into hidden from unnest(string_to_array(hidden, E'\n')) as key
        where key <> all (shared);
      end if;
    end if;
    if hidden is null then
      return;
    end if;
    perform set_config('app.hidden_customers', hidden, true), set_config('app.hiding', read_at || ':' || person, true),
      -- The plans of this transaction have its hidden names.
      set_config('plan_cache_mode', 'force_custom_plan', true);
    if current_setting('citus.propagate_set_commands', true) is not null then
      perform public.hide_customers_on_workers(hidden, read_at || ':' || person);
    end if;
  end $$;

revoke all on function hidden_keys(), hiding(), refuse_plan_of_another(), hide_customers_on_workers(text, text) from public;
grant execute on function hidden_keys(), hiding(), refuse_plan_of_another(), hide_customers_on_workers(text, text)
  to lanewise_service;
