-- The order of day and month in dates of files such as 3/1/2026, if a file does not show it.
alter table tenants add column date_order text not null default 'month_first'
  check (date_order in ('month_first', 'day_first'));
