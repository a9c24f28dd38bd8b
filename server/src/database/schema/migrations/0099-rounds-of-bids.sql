-- A bid can be the next round of an earlier bid, and shippers tell the rank of a rate. The version before knows none of it, and its bids
-- are first rounds.

-- No foreign key: a removed bid leaves its number here, as the service removes it from the later ones itself.
alter table bids add column previous_bid_id integer;
create index bids_previous on bids (tenant_id, previous_bid_id) where previous_bid_id is not null;

alter table bid_lanes
  -- The rank that the shipper gives the rate of the round before, from 1.
  add column rank integer,
  -- The lane of the round before that this one continues, and its rate then.
  add column previous_lane integer,
  add column previous_rate_cents integer;
-- The awarded lanes between two places.
create index bid_lanes_awarded_places on bid_lanes (tenant_id, origin, destination) where award = 'awarded';
