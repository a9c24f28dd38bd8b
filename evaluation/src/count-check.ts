import type { PastQuote } from '#engine/history.ts'
import { laneRates } from '#engine/lane-rates.ts'
import { countRates } from '#engine/rate-counts.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { winProbability } from '#engine/win-probability.ts'
import { normal } from './simulation.ts'

const LANES = 1000
const PRICES = 200

/** Counts how often the default win probability rises with the rate, over 1,000 random lanes with 200 rising rates each. */
export function countRises(seed: number): number {
  const random = seededNumbers(seed)
  let rises = 0
  for (let lane = 0; lane < LANES; lane++) {
    const history = Array.from({ length: 1 + Math.floor(random() * 40) }, (_, i): PastQuote => {
      const rateCents = Math.round(200_000 * Math.exp(0.15 * normal(random)))
      const answer = random()
      const outcome = answer < 0.4 ? 'won' : answer < 0.85 ? 'lost' : 'pending'
      return { quoteId: i + 1, rateCents, costCents: null, outcome, quotedAt: i, miles: null }
    })
    const rates = laneRates(countRates(history))
    let last = 1
    for (let i = 0; i < PRICES; i++) {
      const here = winProbability(rates, Math.round(120_000 * 1.007 ** i), 'at_or_below').probability
      if (here === null) break
      if (here > last + 1e-12) rises++
      last = here
    }
  }
  return rises
}
