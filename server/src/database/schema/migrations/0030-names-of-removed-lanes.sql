-- A reader that follows changes is told which lane was deleted by the names that it knows, and only whether it could know it: the row
-- of a deleted lane is gone, so its names and whether it was a shipment stay with its version. Null for lanes that exist, and for
-- lanes that were deleted before this migration.
alter table lane_versions
  add column removed_ref text,
  add column removed_external_id text,
  add column removed_shipment boolean;
