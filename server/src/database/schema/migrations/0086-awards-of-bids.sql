-- What became of the lanes of a bid: awarded or lost, at which rate and for how many loads, and when the contract began. The version
-- before does not read the new columns, and writes none of them.

alter table bids add column starts_on date;
alter table bid_lanes
  -- Null while it is open.
  add column award text check (award in ('awarded', 'lost')),
  add column award_cents integer,
  -- The loads that the shipper promised over the contract. Null: not known.
  add column award_loads integer;
create index bid_lanes_awarded on bid_lanes (tenant_id, bid_id) where award = 'awarded';
alter table bid_changes drop constraint bid_changes_kind_check;
alter table bid_changes add constraint bid_changes_kind_check
  check (kind in ('rates', 'strategy', 'place', 'undo', 'awards')) not valid;
alter table bid_changes validate constraint bid_changes_kind_check;
