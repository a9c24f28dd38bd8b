/** The live token, and the quotes of the lane with the booked or else the quoted rate. */
const about = `
with token as (
  select 1 from service_tokens
  where tenant_id = $1 and jti = $2 and revoked_at is null and expires_at > now()
), history as (
  select coalesce(customer_rate_cents, quoted_rate_cents) as rate, outcome, created_at
  from lanes
  where tenant_id = $1 and origin_key = $3 and destination_key = $4
    and ($5::text is null or equipment_code = $5)
)`

export const markupStatement = `${about}
select (select count(*) from token) as live,
  count(*) as quotes,
  count(*) filter (where outcome <> 'pending') as decided,
  count(*) filter (where outcome <> 'pending' and rate <= $6::integer) as compared,
  count(*) filter (where outcome = 'won' and rate <= $6::integer) as compared_won,
  percentile_cont(0.1) within group (order by rate) as floor,
  percentile_cont(0.5) within group (order by rate) as median,
  percentile_cont(0.9) within group (order by rate) as ceiling,
  percentile_cont(0.5) within group (order by rate) filter (where outcome = 'won') as suggested
from history`

export const laneStatement = `${about}
select (select count(*) from token) as live,
  count(*) as quotes,
  count(*) filter (where outcome = 'won') as wins,
  count(*) filter (where outcome = 'lost') as losses,
  count(*) filter (where outcome <> 'pending' and created_at > now() - interval '90 days') as recent_decided,
  count(*) filter (where outcome = 'won' and created_at > now() - interval '90 days') as recent_wins,
  count(distinct date_trunc('month', created_at)) as months,
  avg(rate) as average,
  stddev_samp(rate) as spread,
  corr(rate, (outcome = 'won')::integer) filter (where outcome <> 'pending') as price_and_outcome
from history`
