-- A quote can be lost because the customer withdrew it (docs/decisions/0121-reasons-of-losses.md).
-- Not validated, which would read the table under a lock: the previous condition was stricter.
alter table lanes
  drop constraint lanes_outcome_reason_check,
  add constraint lanes_outcome_reason_check
    check (outcome_reason in ('price', 'service', 'capacity', 'no_response', 'withdrawn', 'other')) not valid;
