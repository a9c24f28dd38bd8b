-- Less than was granted is enough. The service writes the check of its key once, and must never change the key of the
-- identifiers: two lanes could then get one lane_ref. And an e-mail address is claimed or released only by a transaction
-- of the tenant it is claimed for, as every other row is written.
revoke update on installation from lanewise_service;
grant update (key_check) on installation to lanewise_service;

create or replace function claim_sign_in(email text, for_tenant integer, for_user integer) returns boolean
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
    with claimed as (
      insert into public.sign_in_emails
      select $1, $2, $3 where $2 = nullif(current_setting('app.tenant_id', true), '')::integer
      on conflict do nothing returning 1
    )
    select exists (select 1 from claimed)
        or exists (select 1 from public.sign_in_emails e
                   where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3)
  $$;

create or replace function release_sign_in(email text, of_tenant integer, of_user integer) returns void
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
    delete from public.sign_in_emails e
    where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3
      and $2 = nullif(current_setting('app.tenant_id', true), '')::integer
  $$;
