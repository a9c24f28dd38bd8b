-- The last calls to the integration interface, so that an admin can see what arrived and why it was refused. A log for
-- finding mistakes, not a record: it is written behind the requests, in batches, and old rows are deleted.
create table integration_calls (
  tenant_id integer not null references tenants,
  call_id bigint not null,
  called_at timestamptz not null,
  operation text not null,
  method text not null,
  path text not null,
  query text check (length(query) <= 300),
  status smallint not null,
  problem text,
  detail text check (length(detail) <= 2000),
  request_id uuid not null,
  token_id integer,
  duration_ms double precision not null,
  network text not null,
  not_kept integer not null check (not_kept >= 0),
  primary key (tenant_id, call_id),
  foreign key (tenant_id, token_id) references service_tokens
);
alter table integration_calls enable row level security;
alter table integration_calls force row level security;
create policy tenant_wall on integration_calls for all
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
grant select, insert, delete on integration_calls to lanewise_service;

-- Calls are counted here, too: at ten a second an integer is used up in seven years.
alter table tenant_counters alter column last_number type bigint;
