-- Imports of files. A row describes one import: its progress, its result, and the undo of it.

create table imports (
  tenant_id integer not null references tenants,
  import_id integer not null,
  file_name text not null,
  status text not null check (status in ('running', 'done', 'stopped', 'failed', 'undoing', 'undone')),
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
  -- An undo is a job in batches. Its whole state is in this row, so any process can run the next batch, and a batch that
  -- fails leaves nothing half done.
  undo_started_at timestamptz,
  undo_finished_at timestamptz,
  -- The person in whose name values are restored. Null if a command undoes the import.
  undo_by integer,
  -- The last lane of the previous batch: the next batch starts after it.
  undo_after bigint not null default -1,
  undo_rows_done integer not null default 0,
  lanes_removed integer not null default 0,
  lanes_restored integer not null default 0,
  lanes_kept integer not null default 0,
  -- Rows that changed nothing because the lane has newer values, the first changes field by field, and the values of the
  -- file that were not applied, each with the source of the newer value.
  rows_kept integer not null default 0,
  -- How the rows ended: a check shows them, and warns when no quote was lost, because win chances cannot be learned from
  -- wins alone.
  rows_won integer not null default 0,
  rows_lost integer not null default 0,
  rows_pending integer not null default 0,
  changes jsonb not null default '[]',
  kept jsonb not null default '[]',
  -- The SHA-256 of the signed request that began the import, so that the same request again does not begin another one. Null
  -- if a person or a command began it.
  request_digest bytea,
  -- Sample data that a new brokerage asked for: it does not count as a first step, and each page offers to remove it.
  is_sample boolean not null default false,
  primary key (tenant_id, import_id)
);
create unique index imports_request on imports (tenant_id, request_digest) where request_digest is not null;
create index imports_undoing on imports (progress_at) where status = 'undoing';
alter table imports enable row level security;
alter table imports force row level security;
create policy tenant_isolation on imports
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
-- For stalled_undos.
create policy stalled_undos_for_owner on imports for select to current_user using (true);
grant select, insert, update on imports to lanewise_service;

-- Returns the undos, of all tenants, that made no progress since `silent_since`: their process ended, and the service
-- resumes them.
create function stalled_undos(silent_since timestamptz) returns table (tenant_id integer, import_id integer)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  -- In the database because it is a query across all tenants: security definer, so that it passes tenant isolation and
  -- returns nothing but two numbers per undo.
  begin
    return query select numbers[1], numbers[2] from public.across_tenants(format(
      $query$
        select array[i.tenant_id, i.import_id] from {imports} as i
        where i.status = 'undoing' and i.progress_at < %L::timestamptz
        order by i.progress_at limit 1000
      $query$, silent_since)) as one (numbers);
  end $$;
revoke all on function stalled_undos(timestamptz) from public;
grant execute on function stalled_undos(timestamptz) to lanewise_service;
