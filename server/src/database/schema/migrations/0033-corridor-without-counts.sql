-- The quotes of a pair of places, newest first. Unlike lanes_of_corridor it holds nothing that a booking or an outcome changes:
-- PostgreSQL writes no index at all for an update that changes no column of an index and finds room on its page. The index
-- that it replaces goes with migration 34 (see 0023 for why not with this one).
create index lanes_by_corridor on lanes (tenant_id, origin_key, destination_key, equipment_code, created_at, lane_id);
