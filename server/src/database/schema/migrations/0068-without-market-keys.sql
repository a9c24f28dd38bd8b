-- Drops the keys of providers of market rates, and the maximum of calls to them: Lanewise asks no provider. Stored market rates stay.
do $$
  declare
    holder integer;
    keys bigint := 0;
  begin
    -- One brokerage at a time, because row-level security applies to the owner, too. The 500 ms limit the waits for locks below.
    for holder in select tenant_id from tenants loop
      perform enter_tenant(holder::text, 0, 500, 0);
      keys := keys + (select count(*) from market_keys where tenant_id = holder);
      delete from daily_counts where tenant_id = holder and counter = 'market-call';
    end loop;
    drop table market_keys;
    alter table tenants drop column market_calls_per_day;
    alter table daily_counts drop constraint daily_counts_counter_check;
    alter table daily_counts add constraint daily_counts_counter_check check (counter = 'invitation');
    if keys > 0 then
      raise notice using errcode = 'LW001', message = format(
        'dropped the table market_keys with %s keys of providers of market rates: push rates instead (docs/market-rates.md)', keys);
    end if;
  end $$;
