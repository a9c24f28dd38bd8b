-- The facts of every brokerage: who its people are, what it quoted, what was booked, and who changed what.
-- Every table carries tenant_id in its primary key, every foreign key and every unique index, so that row-level
-- security can wall each tenant in and a distributed PostgreSQL can spread the tables by tenant.

-- One row about the installation itself. id_key hides how many lanes all tenants have made (see database/identifiers);
-- key_check is a known text sealed with the secret key, so that a start with the wrong key is refused.
create table installation (
  singleton boolean primary key default true check (singleton),
  id_key bytea not null check (length(id_key) = 32),
  key_check bytea
);

create sequence lane_number;
create sequence request_number;

create table tenants (
  tenant_id integer primary key check (tenant_id > 0),
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  win_probability_method text not null default 'at_or_below'
    check (win_probability_method in ('at_or_below', 'literal', 'revealed')),
  created_at timestamptz not null
);

-- Small numbers of a tenant's own (users, tokens, secrets, imports): they say nothing about other tenants.
create table tenant_counters (
  tenant_id integer not null references tenants,
  counter text not null,
  last_number integer not null,
  primary key (tenant_id, counter)
);

create table users (
  tenant_id integer not null references tenants,
  user_id integer not null,
  name text not null,
  email text not null,
  role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
  status text not null check (status in ('active', 'invited', 'removed')),
  password_hash text,
  invitation_hash bytea,
  invitation_expires_at timestamptz,
  created_at timestamptz not null,
  primary key (tenant_id, user_id)
);

-- Which tenant an e-mail address signs in to: the one question asked before the tenant is known. The service role
-- cannot read this table; it asks through the three functions below.
create table sign_in_emails (
  email_folded text primary key,
  tenant_id integer not null,
  user_id integer not null
);

create table sessions (
  tenant_id integer not null,
  session_id uuid not null,
  user_id integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, user_id) references users
);
create index sessions_by_user on sessions (tenant_id, user_id);

create table service_tokens (
  tenant_id integer not null,
  token_id integer not null,
  jti uuid not null,
  name text not null,
  scope text not null,
  user_id integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_from text,
  primary key (tenant_id, token_id),
  unique (tenant_id, jti),
  foreign key (tenant_id, user_id) references users
);

-- The secret must be recoverable (it is an HMAC key), so it is sealed with a key from outside the database.
create table signing_secrets (
  tenant_id integer not null references tenants,
  secret_id integer not null,
  name text not null,
  sealed bytea not null,
  created_by integer not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (tenant_id, secret_id),
  foreign key (tenant_id, created_by) references users (tenant_id, user_id)
);

create table imports (
  tenant_id integer not null references tenants,
  import_id integer not null,
  file_name text not null,
  status text not null check (status in ('running', 'done', 'stopped', 'failed', 'undone')),
  dry_run boolean not null,
  columns jsonb not null,
  ignored_columns jsonb not null,
  rows_read integer not null default 0,
  rows_added integer not null default 0,
  rows_updated integer not null default 0,
  rows_repeated integer not null default 0,
  rows_refused integer not null default 0,
  errors jsonb not null default '[]',
  bytes_read bigint not null default 0,
  bytes_total bigint not null default 0,
  created_by integer,
  created_at timestamptz not null,
  progress_at timestamptz not null,
  finished_at timestamptz,
  stop_requested boolean not null default false,
  failure text,
  primary key (tenant_id, import_id)
);

create table quote_requests (
  tenant_id integer not null references tenants,
  request_id bigint not null,
  customer_name text not null,
  reference text,
  created_by integer,
  created_at timestamptz not null,
  import_id integer,
  primary key (tenant_id, request_id),
  foreign key (tenant_id, import_id) references imports
);

-- A lane: what was quoted, how it ended, what was booked. Amounts are whole cents (an integer cannot be NaN).
-- The *_key and *_state columns are the folded place, for matching; origin and destination stay as sent.
create table lanes (
  tenant_id integer not null,
  lane_id bigint not null,
  lane_ref text not null,
  request_id bigint not null,
  lane_number integer not null check (lane_number >= 1),
  quote_count integer not null check (quote_count >= 1),
  origin text not null,
  destination text not null,
  origin_key text not null,
  destination_key text not null,
  origin_state text not null,
  destination_state text not null,
  origin_market text,
  destination_market text,
  equipment text not null,
  equipment_code text not null,
  quoted_customer_name text not null,
  quoted_rate_cents integer not null check (quoted_rate_cents between 0 and 999999999),
  estimated_cost_cents integer check (estimated_cost_cents between 0 and 999999999),
  market_rate_cents integer check (market_rate_cents between 0 and 999999999),
  miles double precision check (miles > 0 and miles <= 10000),
  pickup_date date,
  outcome text not null default 'pending' check (outcome in ('won', 'lost', 'pending')),
  outcome_reason text check (outcome_reason in ('price', 'service', 'capacity', 'no_response', 'other')),
  outcome_source text check (outcome_source in ('dashboard', 'tms', 'import')),
  decided_at timestamptz,
  customer_rate_cents integer check (customer_rate_cents between 0 and 999999999),
  truck_cost_cents integer check (truck_cost_cents between 0 and 999999999),
  truck_cost_source text check (truck_cost_source in ('dashboard', 'tms', 'import')),
  customer_name text,
  carrier_name text,
  carrier_notes text,
  booked_at timestamptz,
  -- The signed time, in epoch seconds, of the last write of each booking field: an older one is not applied.
  signed_at jsonb not null default '{}',
  created_by integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  import_id integer,
  import_fingerprint bytea,
  primary key (tenant_id, lane_id),
  unique (tenant_id, lane_ref),
  unique (tenant_id, import_fingerprint),
  foreign key (tenant_id, request_id) references quote_requests,
  foreign key (tenant_id, import_id) references imports,
  check ((outcome = 'pending') = (decided_at is null))
);
-- The exact city pair, in the order in which a history is read.
create index lanes_by_corridor on lanes (tenant_id, origin_key, destination_key, equipment_code, created_at, lane_id);
create index lanes_by_state_pair on lanes (tenant_id, origin_state, destination_state, equipment_code);
create index lanes_by_age on lanes (tenant_id, created_at desc, lane_id desc);
create index lanes_booked on lanes (tenant_id, created_at desc, lane_id desc)
  where customer_rate_cents is not null or truck_cost_cents is not null or carrier_name is not null
     or carrier_notes is not null or booked_at is not null;
create index lanes_by_request on lanes (tenant_id, request_id);
create index lanes_by_import on lanes (tenant_id, import_id) where import_id is not null;

-- Every signed update ever acknowledged, applied or not, under the digest of the exact request: a repeat of the same
-- request finds its answer here.
create table shipment_updates (
  tenant_id integer not null,
  request_digest bytea not null check (length(request_digest) = 32),
  lane_id bigint not null,
  signed_at timestamptz not null,
  received_at timestamptz not null,
  token_id integer not null,
  carried jsonb not null,
  applied jsonb not null,
  updated boolean not null,
  primary key (tenant_id, request_digest),
  foreign key (tenant_id, lane_id) references lanes
);
create index shipment_updates_by_lane on shipment_updates (tenant_id, lane_id, received_at);

-- The audit trail of a lane. Append-only: the service role may insert and read, nothing else.
create table lane_changes (
  tenant_id integer not null,
  lane_id bigint not null,
  change_number integer not null,
  source text not null check (source in ('dashboard', 'tms', 'import')),
  user_id integer,
  token_id integer,
  import_id integer,
  changed_at timestamptz not null,
  before jsonb not null,
  after jsonb not null,
  rolled_back_change integer,
  primary key (tenant_id, lane_id, change_number),
  foreign key (tenant_id, lane_id) references lanes,
  foreign key (tenant_id, user_id) references users
);
create index lane_changes_by_import on lane_changes (tenant_id, import_id) where import_id is not null;

-- The walls: a row is visible only inside a transaction that has set app.tenant_id to its tenant. nullif, because a
-- setting that was set for one transaction is '' afterwards, not null.
do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array[
    'tenants', 'tenant_counters', 'users', 'sessions', 'service_tokens', 'signing_secrets', 'imports',
    'quote_requests', 'lanes', 'shipment_updates', 'lane_changes'
  ] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant_wall on %I for all
         using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)
         with check (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::integer)',
      tenant_table
    );
  end loop;
end
$$;

-- Asked before the tenant is known, and nothing more than this is answered.
create function sign_in_of(email text) returns table (tenant_id integer, user_id integer)
  language sql stable security definer set search_path = pg_catalog, public
  as $$ select e.tenant_id, e.user_id from public.sign_in_emails e where e.email_folded = $1 $$;

-- Claims an address for a person; false when somebody else has it.
create function claim_sign_in(email text, for_tenant integer, for_user integer) returns boolean
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
    with claimed as (
      insert into public.sign_in_emails values ($1, $2, $3) on conflict do nothing returning 1
    )
    select exists (select 1 from claimed)
        or exists (select 1 from public.sign_in_emails e
                   where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3)
  $$;

create function release_sign_in(email text, of_tenant integer, of_user integer) returns void
  language sql volatile security definer set search_path = pg_catalog, public
  as $$
    delete from public.sign_in_emails e where e.email_folded = $1 and e.tenant_id = $2 and e.user_id = $3
  $$;

revoke all on function sign_in_of(text), claim_sign_in(text, integer, integer), release_sign_in(text, integer, integer)
  from public;

grant usage on schema public to lanewise_service;
grant execute on function sign_in_of(text), claim_sign_in(text, integer, integer), release_sign_in(text, integer, integer)
  to lanewise_service;
grant usage on sequence lane_number, request_number to lanewise_service;
grant select, insert, update on installation to lanewise_service;
grant select, insert, update on
  tenants, tenant_counters, users, sessions, service_tokens, signing_secrets, imports, quote_requests, lanes
  to lanewise_service;
grant select, insert on shipment_updates, lane_changes to lanewise_service;
-- Undoing an import takes out the lanes it made.
grant delete on quote_requests, lanes to lanewise_service;
