-- The mails that wait, over all tenants, for the metrics.
create function mail_queue() returns table (waiting bigint, oldest_seconds double precision)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but a count and an age.
  declare
    oldest timestamptz;
  begin
    select count(*), min(created_at) into waiting, oldest from public.mails where state = 'due';
    oldest_seconds := greatest(0, coalesce(extract(epoch from clock_timestamp() - oldest), 0));
    return next;
  end $$;
revoke all on function mail_queue() from public;
grant execute on function mail_queue() to lanewise_service;
