-- The quotes of a lane are counted from this index alone: what is counted stands in it beside the lane. (Where many of them were
-- changed of late the database still looks at the rows.)
create index lanes_of_corridor on lanes (tenant_id, origin_key, destination_key, equipment_code, created_at, lane_id)
  include (outcome, customer_rate_cents, quoted_rate_cents);
-- The index that it replaces goes with migration 26. In one transaction this would lock out writers first and readers then:
-- somebody who has read meanwhile and goes on to write would wait for it, and it for him.
