-- A quote can be lost because the customer withdrew the load.
-- Not validated, because that would read the whole table under a lock, and the previous condition allowed less.
alter table quotes
  drop constraint quotes_outcome_reason_check,
  add constraint quotes_outcome_reason_check
    check (outcome_reason in ('price', 'service', 'capacity', 'no_response', 'withdrawn', 'other')) not valid;
