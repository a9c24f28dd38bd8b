-- Markets, states and regions are counted from the book of a brokerage, not from rows. These indexes remain:
--   primary key (lane_id)          a lane by its id; all lanes of a brokerage in portions; foreign keys of its history
--   lane_ref                       a lane by the name that people and partners use
--   import_fingerprint             rows of a file that were imported before
--   lanes_by_corridor              the record of a lane, its places in performance, lists of a pair of places
--   lanes_by_age                   lists and exports, newest first; the places used of late; the newest quotes
--   lanes_booked_or_cancelled      the list of shipments
--   lanes_by_request               the quotes of a request; its foreign key
--   lanes_by_import                undoing an import; its foreign key
-- No outcome and no cost is in any of them: an outcome that is set writes none. A booking does, for it enters the list of shipments.
drop index lanes_of_corridor, lanes_by_state_pair, lanes_by_market;

-- An update without index entries needs room on the page of its row. Pages that are written from now on keep room for one.
alter table lanes set (fillfactor = 90);
