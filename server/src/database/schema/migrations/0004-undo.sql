-- Undoing an import walks its lanes in the order of lane_id, a few hundred at a time. With lane_id in the index each step
-- reads just those; without it every step sorted all that were left, and a large import ran into the statement time-out.
drop index lanes_by_import;
create index lanes_by_import on lanes (tenant_id, import_id, lane_id) where import_id is not null;
