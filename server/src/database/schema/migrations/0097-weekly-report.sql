-- The weekly report (docs/decisions/0155-the-weekly-report.md). The version before knows none of it, and its mails have no HTML.

-- When the next report of a brokerage is due, and when it is tried: while an instance writes it, the end of its lease. Null: not computed
-- yet, or the time zone has changed.
alter table tenants add column weekly_report_at timestamptz;
alter table tenants add column weekly_report_try_at timestamptz;

-- Whether the person gets the report. Null: owners and admins do.
alter table users add column weekly_report boolean;

-- A mail with pictures. `access_version`: not sent if what the person may see has changed since it was written.
alter table mails add column html text;
alter table mails add column picture bytea;
alter table mails add column access_version bigint;

-- The tenants whose report is due, or whose next report is not computed.
create function tenants_with_due_report(at timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[tenant.tenant_id] from {tenants} as tenant
        where tenant.status = 'active' and tenant.sandbox_of is null
          and (tenant.weekly_report_at is null or tenant.weekly_report_try_at <= %L::timestamptz)
      $query$, at)) as one (numbers);
  end $$;
revoke all on function tenants_with_due_report(timestamptz) from public;
grant execute on function tenants_with_due_report(timestamptz) to lanewise_service;
