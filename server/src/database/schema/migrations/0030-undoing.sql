-- Undoing an import is a state of it, set before the first row is undone, and a job in batches. Everything that the job needs
-- stands in the row: any process can do the next batch, and one that is lost leaves nothing half done.
alter table imports drop constraint imports_status_check;
alter table imports add constraint imports_status_check
  check (status in ('running', 'done', 'stopped', 'failed', 'undoing', 'undone'));
alter table imports
  add column undo_started_at timestamptz,
  add column undo_finished_at timestamptz,
  -- The person in whose name values are restored. Null where a command undoes the import.
  add column undo_by integer,
  -- The last lane that a batch has dealt with: the next batch begins after it.
  add column undo_after bigint not null default -1,
  add column undo_rows_done integer not null default 0,
  add column lanes_removed integer not null default 0,
  add column lanes_restored integer not null default 0,
  add column lanes_kept integer not null default 0;

-- An undo walks the lanes that an import has changed in the order of lane_id, as it walks those that it made.
drop index lane_changes_by_import;
create index lane_changes_by_import on lane_changes (tenant_id, import_id, lane_id) where import_id is not null;

-- Undos whose process was lost, of all brokerages: the service resumes them. It gets two numbers of each.
create index imports_undoing on imports (progress_at) where status = 'undoing';
create policy silent_undos_for_owner on imports for select to current_user using (true);
create function silent_undos(silent_since timestamptz) returns table (tenant_id integer, import_id integer)
  language plpgsql stable security definer set search_path = pg_catalog, public
  as $$
  begin
    return query select i.tenant_id, i.import_id from public.imports i
    where i.status = 'undoing' and i.progress_at < silent_since
    order by i.progress_at
    limit 1000;
  end $$;
revoke all on function silent_undos(timestamptz) from public;
grant execute on function silent_undos(timestamptz) to lanewise_service;
