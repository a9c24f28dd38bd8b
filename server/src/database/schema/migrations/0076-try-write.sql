-- Writes a megabyte into a new table, to see whether the disk has space. The caller rolls back.
create function try_write() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, public
  as $$
  -- In the database, because the owner runs it: the service may not create tables. In a new table, because PostgreSQL first
  -- fills the free pages of an old one, also on a full disk.
  begin
    create temporary table write_trial (filler text);
    insert into pg_temp.write_trial
    select string_agg(md5(random()::text), '') from generate_series(1, 32), generate_series(1, 1024) as row group by row;
  end $$;
revoke all on function try_write() from public;
grant execute on function try_write() to lanewise_service;
