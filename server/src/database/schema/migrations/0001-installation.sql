-- Tables of the installation. They hold nothing about a tenant, so they have no row-level security, and on a distributed
-- database they stay on the coordinator.
--
-- Two roles use the schema. lanewise_owner (the role that runs the migrations) owns it. The service connects as
-- lanewise_service, which owns nothing and has only the rights that these files grant.

grant usage on schema public to lanewise_service;

-- The migrations that this database has.
create table schema_migrations (
  name text primary key,
  applied_at timestamptz not null default now()
);
grant select on schema_migrations to lanewise_service;

-- The one row about the installation.
create table installation (
  singleton boolean primary key default true check (singleton),
  -- Encrypts the numbers in lane_id and lane_ref, which would otherwise show how many lanes all tenants have
  -- (server/src/database/session/identifiers.ts). It must never change: two lanes could get the same lane_ref.
  id_key bytea not null check (length(id_key) = 32),
  -- A known text encrypted with the secret key: the service refuses to start with another key.
  key_check bytea,
  -- The names of the secret keys of the last start. A secret is re-encrypted only with a key that the service has.
  key_names text not null default '',
  -- Whether the service was last started with events. Commands that write beside the service read it.
  events boolean not null default false,
  -- How often a tenant was erased. Erasing deletes the tenant's row in tenant_facts, so changed_tenants cannot report it:
  -- a process that reads another number than before clears all its caches.
  erasures integer not null default 0
);
grant select, insert on installation to lanewise_service;
grant update (key_check, key_names, events) on installation to lanewise_service;

-- The running instances of the service. An instance that runs alone enforces the request limits in memory; several
-- instances share them.
create table instances (
  instance_id uuid primary key,
  joined_at timestamptz not null,
  seen_at timestamptz not null
);
grant select, insert, update, delete on instances to lanewise_service;

-- All tenants draw the numbers of their lanes and quote requests from these two sequences.
create sequence lane_number;
create sequence request_number;
grant usage on sequence lane_number, request_number to lanewise_service;

-- A tenant imported from another installation keeps the lane_id and lane_ref of its lanes, because partners store them.
-- Under this installation's id_key they decrypt to other numbers of the two sequences. Those numbers are listed here and
-- are never given to another lane or request. Only the owner inserts, as part of an import.
create table taken_numbers (
  sequence text not null check (sequence in ('lane_number', 'request_number')),
  number bigint not null,
  primary key (sequence, number)
);
grant select on taken_numbers to lanewise_service;

-- Returns the next numbers of one of the two sequences, without those in taken_numbers.
create function next_numbers(of_sequence text, how_many integer) returns setof bigint
  language plpgsql volatile
  as $$
  -- In the database because it repeats until it has enough free numbers: in TypeScript, each try would be a round trip.
  declare
    missing integer := how_many;
    found_free integer;
  begin
    while missing > 0 loop
      return query
      with drawn as materialized (
        select nextval(('public.' || of_sequence)::regclass) as number from generate_series(1, missing)
      )
      select drawn.number from drawn
      where not exists (
        select from public.taken_numbers as taken where taken.sequence = of_sequence and taken.number = drawn.number
      );
      get diagnostics found_free = row_count;
      missing := missing - found_free;
    end loop;
  end $$;
revoke all on function next_numbers(text, integer) from public;
grant execute on function next_numbers(text, integer) to lanewise_service;
