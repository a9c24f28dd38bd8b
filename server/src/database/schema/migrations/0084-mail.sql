-- Mail: messages to people of a brokerage that wait, were sent or could not be sent, and the brokerage's own mail server
-- (docs/decisions/0139-mail-is-sent-from-an-outbox.md). The version before knows none of it.

-- The outbox. Rows are written with the change that they tell of, and sent after its commit.
create table mails (
  tenant_id integer not null references tenants,
  -- Part of the Message-ID, so that a receiver recognizes a message that was sent again.
  mail_id uuid not null,
  -- The recipient. The address is read when the message is sent: the person may have left.
  user_id integer not null,
  kind text not null,
  -- What the message tells, so that one fact is told a person once.
  about text not null,
  subject text not null check (subject !~ '[[:cntrl:]]'),
  body text not null,
  -- The message is not sent to a person who lost this role, or who does not see this customer.
  needs_role text,
  customer_name text,
  state text not null check (state in ('due', 'sent', 'failed', 'dropped')),
  attempts integer not null default 0,
  -- The next attempt; while one runs, the end of its lease.
  next_at timestamptz not null,
  created_at timestamptz not null,
  -- Not sent later than this.
  ends_at timestamptz not null,
  settled_at timestamptz,
  -- Why the last attempt failed, or why the message was not sent.
  failure text,
  primary key (tenant_id, mail_id),
  foreign key (tenant_id, user_id) references users
);
create unique index mails_once on mails (tenant_id, user_id, kind, about);
create index mails_due on mails (tenant_id, next_at) where state = 'due';
create index mails_settled on mails (tenant_id, created_at);
alter table mails enable row level security;
alter table mails force row level security;
create policy tenant_isolation on mails
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For tenants_with_due_mail.
create policy due_mail_for_owner on mails for select to current_user using (true);
grant select, insert, update, delete on mails to lanewise_service;

-- The brokerage's own mail server. It has one, with the number 1.
create table mail_servers (
  tenant_id integer not null references tenants,
  secret_id integer not null check (secret_id = 1),
  host text not null,
  port integer not null,
  user_name text,
  -- Host, port, user and password, encrypted: a password never goes to a host that it was not entered for.
  sealed bytea not null,
  from_address text not null,
  set_at timestamptz not null,
  primary key (tenant_id, secret_id)
);
alter table mail_servers enable row level security;
alter table mail_servers force row level security;
create policy tenant_isolation on mail_servers
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on mail_servers to lanewise_service;

-- The tenants with mail that is due.
create function tenants_with_due_mail() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[mail.tenant_id] from {mails} as mail
        where mail.state = 'due' and mail.next_at <= %L::timestamptz
      $query$, clock_timestamp())) as one (numbers);
  end $$;
revoke all on function tenants_with_due_mail() from public;
grant execute on function tenants_with_due_mail() to lanewise_service;

-- A reset of a test brokerage erases its mail, too.
create or replace function erase_sandbox_rows(sandbox integer, most integer) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, public
  as $function$
  -- In the database because the service has no right to delete the history of a lane: security definer, so that it can
  -- delete that of a test brokerage and of no other: it must be the tenant of the transaction, and two rows of tenants must
  -- agree that it is a test brokerage.
  declare
    erased integer := 0;
    counted integer;
    gone_lanes bigint[];
    gone bigint[];
  begin
    if sandbox is distinct from nullif(current_setting('app.tenant_id', true), '')::integer
      or not exists (select from public.tenants where tenant_id = sandbox and sandbox_of is not null)
      or not exists (
        select from public.tenants
        where tenant_id = (select sandbox_of from public.tenants where tenant_id = sandbox) and sandbox_id = sandbox
      )
    then
      raise exception 'not a test brokerage';
    end if;
    gone_lanes := array(
      select lane_id from public.lanes where tenant_id = sandbox order by lane_id limit most for update
    );
    delete from public.mails where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bid_changes where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bid_lanes where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.bids where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.market_rates where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.team_customers where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customer_aliases where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customer_distinctions where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.customers where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.pilot_entries where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.pilots where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.calibration_checks where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.approvals where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.shipment_updates where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.lane_changes where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.lanes where tenant_id = sandbox and lane_id = any(gone_lanes);
    get diagnostics counted = row_count;
    erased := erased + counted;
    gone := array(select event_number from public.events where tenant_id = sandbox order by event_number limit most);
    delete from public.event_deliveries where tenant_id = sandbox and event_number = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.events where tenant_id = sandbox and event_number = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    gone := array(select call_id from public.integration_calls where tenant_id = sandbox order by call_id limit most);
    delete from public.integration_calls where tenant_id = sandbox and call_id = any(gone);
    get diagnostics counted = row_count;
    erased := erased + counted;
    if cardinality(gone_lanes) < most then
      gone := array(
        select request_id from public.quote_requests
        where tenant_id = sandbox and not exists (
          select from public.lanes where tenant_id = sandbox and lanes.request_id = quote_requests.request_id
        )
        order by request_id limit most
      );
      delete from public.quote_requests where tenant_id = sandbox and request_id = any(gone);
      get diagnostics counted = row_count;
      erased := erased + counted;
      if not exists (select from public.quote_requests where tenant_id = sandbox) then
        delete from public.imports where tenant_id = sandbox and status not in ('running', 'undoing');
        get diagnostics counted = row_count;
        erased := erased + counted;
      end if;
    end if;
    return jsonb_build_object('rows', erased, 'lanes', to_jsonb(gone_lanes));
  end $function$;
