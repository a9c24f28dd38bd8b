-- An invitation no longer takes an e-mail address from others: the address is claimed when the invitation is accepted
-- (docs/decisions/0007-people.md). This releases the addresses of invitations, open and expired. If an
-- instance of the version before accepts one of them meanwhile, it does not claim the address: remove and invite that person again.
do $$
  declare
    holder integer;
    invited integer[];
  begin
    -- One brokerage at a time, because row-level security applies to the owner, too.
    for holder in select distinct tenant_id from sign_in_emails loop
      perform enter_tenant(holder::text, 0, 0, 0);
      invited := array(select user_id from users where tenant_id = holder and status = 'invited');
      delete from sign_in_emails where tenant_id = holder and user_id = any (invited);
    end loop;
  end $$;
