-- An e-mail address signs in to each brokerage that its person belongs to: one account per address and brokerage
-- (docs/decisions/0161-an-account-per-brokerage.md). The version before reads one of the accounts of an address.
alter table sign_in_emails
  drop constraint sign_in_emails_pkey,
  add constraint sign_in_emails_pkey primary key (email_folded, tenant_id);

create or replace function claim_sign_in(email text, for_tenant integer, for_user integer)
  returns boolean language sql security definer set search_path = pg_catalog, public as $function$
  -- In the database because the table is outside of tenants: security definer, so that the service can add an address to
  -- its own tenant only.
  with claimed as (
    insert into public.sign_in_emails
    select $1, $2, $3 where $2 = nullif(current_setting('app.tenant_id', true), '')::integer
    on conflict do nothing returning 1
  )
  select exists (select 1 from claimed)
      or exists (select 1 from public.sign_in_emails e
                 where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3)
  $function$;

create or replace function sign_in_of(email text)
  returns table (tenant_id integer, user_id integer)
  language sql stable security definer set search_path = pg_catalog, public as $function$
  -- In the database because it is a query across all tenants: security definer, so that the service can look up one
  -- address and cannot list the table. Whoever adds an address to many brokerages slows its sign-in down no further than this limit.
  select e.tenant_id, e.user_id from public.sign_in_emails e where e.email_folded = $1 order by e.tenant_id limit 100
  $function$;

create or replace function sign_in_accounts(email text)
  returns table (tenant_id integer, user_id integer, user_status text, password_hash text, tenant_name text, tenant_status text)
  language plpgsql as $function$
  -- In the database because it asks several tenants: one message for any number of accounts, so that the time does not tell how
  -- many there are. Not security definer: each tenant is entered, so tenant isolation shows its own rows only. Addresses with fewer
  -- than four accounts, also unknown ones, cause the work of four.
  declare
    account record;
    statement_ms constant integer := extract(epoch from current_setting('statement_timeout')::interval) * 1000;
    lock_ms constant integer := extract(epoch from current_setting('lock_timeout')::interval) * 1000;
    idle_ms constant integer := extract(epoch from current_setting('idle_in_transaction_session_timeout')::interval) * 1000;
  begin
    for account in
      select known.tenant_id, known.user_id from public.sign_in_of(email) as known
      union all
      -- No tenant has these numbers.
      select padding, 1 from generate_series(1, 4 - (select count(*)::integer from public.sign_in_of(email))) as padding
    loop
      perform public.enter_tenant(account.tenant_id::text, statement_ms, lock_ms, idle_ms);
      return query
        select u.tenant_id, u.user_id, u.status::text, u.password_hash::text, t.name::text, t.status::text
        from public.users as u join public.tenants as t on t.tenant_id = u.tenant_id
        where u.tenant_id = account.tenant_id and u.user_id = account.user_id;
    end loop;
    perform public.enter_tenant('', statement_ms, lock_ms, idle_ms);
  end $function$;
revoke all on function sign_in_accounts(text) from public;
grant execute on function sign_in_accounts(text) to lanewise_service;
