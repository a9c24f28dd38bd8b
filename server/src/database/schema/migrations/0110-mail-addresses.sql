-- The address to which a brokerage forwards mails (docs/decisions/0160-mails-are-taken-over-smtp.md). The version before knows none of it.
create table mail_addresses (
  tenant_id integer primary key references tenants,
  -- The part of the address that nobody guesses.
  secret text not null,
  -- The mailbox of received_mails that its mails belong to; another one for another address.
  mailbox_id uuid not null,
  kept_days integer not null,
  made_at timestamptz not null,
  -- The number of the last mail, which is its UID, and when it arrived.
  last_uid bigint not null default 0,
  received_at timestamptz
);
alter table mail_addresses enable row level security;
alter table mail_addresses force row level security;
create policy tenant_isolation on mail_addresses
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, update, delete on mail_addresses to lanewise_service;
