-- When an award of a lane was signed, or a person said it: a signed award that comes late changes no newer one
-- (docs/decisions/0158-awards-by-file-and-push.md).
alter table bid_lanes add column award_signed_at timestamptz;
