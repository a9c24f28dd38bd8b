-- Words are looked for in six columns of a lane. Six comparisons that ignore case took a third of a second over 100,000
-- lanes; one text in lower case, kept with the lane, takes a fifth of that. (An index on parts of words would not be
-- used: the walls between tenants are asked first.) No word holds a line break, so none is found across two columns.
alter table lanes add column search_text text not null generated always as (
  lower(
    lane_ref || E'\n' || origin || E'\n' || destination || E'\n' || quoted_customer_name
      || E'\n' || coalesce(customer_name, '') || E'\n' || coalesce(carrier_name, '')
  )
) stored;
