import type { newLanes } from '#server/database/queries/index.ts'

export const noCosts = {
  expected_cost_cents: null,
  expected_cost_low_cents: null,
  expected_cost_high_cents: null,
  expected_basis: null,
}
/** A lane to insert. */
export const newLane: newLanes.NewLane = {
  ...noCosts,
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  origin_key: 'dallas|TX',
  destination_key: 'atlanta|GA',
  origin_state: 'TX',
  destination_state: 'GA',
  origin_market: null,
  destination_market: null,
  equipment: 'V',
  equipment_code: 'V',
  quoted_rate_cents: 200_000,
  estimated_cost_cents: null,
  market_rate_cents: null,
  miles: 780,
  pickup_date: null,
}
