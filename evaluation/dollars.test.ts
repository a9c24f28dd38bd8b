/** @module-tag long */
import { expect, test } from 'vitest'
import { testDays } from '#engine/backtest/walk-forward.ts'
import { dayOf } from '#engine/day.ts'
import { priceWeight, referenceRateCents } from '#engine/estimate/lane-reference.ts'
import { bestRate, expectedMarginCents } from '#engine/estimate/optimum.ts'
import { simulateTenant } from './src/simulation.ts'

const COST_SHARE = 0.86
/** Few days, because the simulation returns only today's market rate, which must be close to that of the quote's day. */
const TESTED_DAYS = 10

/** The margin, in cents, that best rates add to the quoted rates of the last days: as the model estimates it, and in truth. */
function gains(seed: number): { estimated: number; true: number } {
  const tenant = simulateTenant({ seed, laneSizes: [8, 15, 60, 60], days: 120, shape: 'probit' })
  const lanes = new Map(tenant.lanes.map((lane) => [lane.identity.key, lane]))
  const sum = { estimated: 0, true: 0 }
  for (const day of testDays(tenant.quotes, dayOf(tenant.now) - TESTED_DAYS)) {
    for (const quote of day.tests) {
      const lane = lanes.get(quote.lane.key)
      const referenceCents = referenceRateCents(day.modelFor(quote), quote.lane, null)
      if (!lane || referenceCents === null) continue
      const costCents = COST_SHARE * Math.exp(lane.logMarket)
      const curve = {
        posterior: day.posteriorFor(quote),
        referenceCents,
        priceWeight: priceWeight(day.modelFor(quote), quote.lane),
        costCents,
      }
      const best = bestRate({ ...curve, floorCents: null })
      const truly = (rateCents: number) => lane.truth(Math.log(rateCents)) * (rateCents - costCents)
      sum.estimated += best.expectedMarginCents - expectedMarginCents(curve, quote.rateCents)
      sum.true += truly(best.rateCents) - truly(quote.rateCents)
    }
  }
  return sum
}

test('the model’s dollar estimate is close to the true value, and the best rates earn more', () => {
  const all = [1, 2, 3].map(gains)
  const estimated = all.reduce((sum, one) => sum + one.estimated, 0)
  const truth = all.reduce((sum, one) => sum + one.true, 0)
  expect(truth).toBeGreaterThan(0)
  expect(estimated / truth).toBeGreaterThan(0.8)
  expect(estimated / truth).toBeLessThan(1.25)
})
