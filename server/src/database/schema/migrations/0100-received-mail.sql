-- Received mail: the mailbox that a brokerage has read, and the mails of customers that were read from it
-- (docs/decisions/0157-mails-are-read-once.md). The version before knows none of it.

-- The mailbox of a brokerage. It has one, with the number 1.
create table mailboxes (
  tenant_id integer not null references tenants,
  secret_id integer not null check (secret_id = 1),
  -- Another one for another mailbox: the UIDs of one mean nothing in another.
  mailbox_id uuid not null,
  host text not null,
  port integer not null,
  user_name text not null,
  -- Host, port, user and password, encrypted: a password never goes to a host that it was not entered for.
  sealed bytea not null,
  -- The server whose Authentication-Results are believed: it adds them, and removes those of others. Null: none is.
  checking_server text,
  kept_days integer not null,
  set_at timestamptz not null,
  -- How far it was read: mails up to last_uid are stored, or came before the mailbox was set. Null: it was never opened.
  uid_validity bigint,
  last_uid bigint,
  -- The mail that is being read, and how often that was begun: a mail that ends the process is given up.
  trying_uid bigint,
  tries integer not null default 0,
  -- The process that reads it, until the end of its lease.
  lease_id uuid,
  lease_until timestamptz,
  -- Not opened before this.
  next_at timestamptz not null,
  failures integer not null default 0,
  failing_since timestamptz,
  -- The server refused the user or the password.
  is_refused boolean not null default false,
  failure text,
  -- When it was last found to have nothing unread.
  read_at timestamptz,
  primary key (tenant_id, secret_id)
);
alter table mailboxes enable row level security;
alter table mailboxes force row level security;
create policy tenant_isolation on mailboxes
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For tenants_with_due_mailboxes.
create policy due_mailboxes_for_owner on mailboxes for select to current_user using (true);
grant select, insert, update, delete on mailboxes to lanewise_service;

-- A mail that was read from the mailbox.
create table received_mails (
  tenant_id integer not null references tenants,
  mail_id uuid not null,
  -- Of Message-ID, sender, date and subject, or of the whole mail: the same mail is stored once.
  digest text not null,
  mailbox_id uuid not null,
  uid_validity bigint not null,
  uid bigint not null,
  -- The first mail of the thread, of those that are stored.
  thread_id uuid not null,
  -- Without angle brackets; null if the mail has none.
  message_id text,
  from_name text not null,
  from_address text not null,
  subject text not null,
  sent_at timestamptz not null,
  -- The offset of the sender's clock in minutes; null if the mail does not say it.
  sent_offset integer,
  received_at timestamptz not null,
  bytes bigint not null,
  -- Whether the checking server found that the sender is who it says.
  sender_check text not null check (sender_check in ('passed', 'failed', 'unknown')),
  -- Why it was not read; null if it was.
  problem text,
  attachments jsonb not null,
  lanes_read integer not null,
  questions_asked integer not null,
  -- What was read. Deleted when more than kept_days have passed after received_day, which is a number of days since 1970 in UTC.
  body text,
  tables jsonb,
  received_day integer not null,
  kept_days integer not null,
  -- Who it is from, as far as that is certain. It decides who sees the mail, as with a quote.
  customer_name text,
  -- Whether a person said so.
  customer_confirmed boolean not null default false,
  state text not null check (state in ('open', 'done', 'ignored')),
  assigned_to integer,
  -- The quotes that were made from it.
  request_id bigint,
  settled_at timestamptz,
  primary key (tenant_id, mail_id),
  foreign key (tenant_id, assigned_to) references users
);
create unique index received_mails_once on received_mails (tenant_id, digest);
create unique index received_mails_of_mailbox on received_mails (tenant_id, mailbox_id, uid_validity, uid);
create index received_mails_newest on received_mails (tenant_id, received_at, mail_id);
create index received_mails_by_message on received_mails (tenant_id, message_id);
create index received_mails_by_thread on received_mails (tenant_id, thread_id);
create index received_mails_by_sender on received_mails (tenant_id, from_address) where customer_confirmed;
create index received_mails_with_text on received_mails (tenant_id, (received_day + kept_days)) where body is not null;
alter table received_mails enable row level security;
alter table received_mails force row level security;
create policy tenant_isolation on received_mails
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer and is_seen(customer_key(customer_name)))
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer and is_seen(customer_key(customer_name)));
-- For tenants_with_ended_mail_texts.
create policy ended_texts_for_owner on received_mails for select to current_user using (true);
grant select, insert, update, delete on received_mails to lanewise_service;

-- The tenants whose mailbox no process reads, and may be opened.
create function tenants_with_due_mailboxes() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select array[tenant.tenant_id] from {tenants} as tenant
        where tenant.status = 'active' and exists (
          select from {mailboxes} as mailbox
          where mailbox.tenant_id = tenant.tenant_id and mailbox.next_at <= %L::timestamptz
            and (mailbox.lease_until is null or mailbox.lease_until <= %L::timestamptz)
        )
      $query$, clock_timestamp(), clock_timestamp())) as one (numbers);
  end $$;
revoke all on function tenants_with_due_mailboxes() from public;
grant execute on function tenants_with_due_mailboxes() to lanewise_service;

-- The tenants with mails whose text, or which themselves, were kept for long enough.
create function tenants_with_ended_mail_texts(today integer, oldest timestamptz) returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but the numbers of tenants.
  begin
    return query select numbers[1] from public.across_tenants(format(
      $query$
        select distinct array[mail.tenant_id] from {received_mails} as mail
        where (mail.body is not null and mail.received_day + mail.kept_days < %L::integer)
          or mail.received_at <= %L::timestamptz
      $query$, today, oldest)) as one (numbers);
  end $$;
revoke all on function tenants_with_ended_mail_texts(integer, timestamptz) from public;
grant execute on function tenants_with_ended_mail_texts(integer, timestamptz) to lanewise_service;

-- A reset of a test brokerage erases its received mail, too.
create or replace function erase_sandbox_rows(sandbox integer, most integer)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public'
AS $function$
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
    delete from public.received_mails where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.inbox_marks where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.watch_moves where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
    delete from public.watches where tenant_id = sandbox;
    get diagnostics counted = row_count;
    erased := erased + counted;
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
