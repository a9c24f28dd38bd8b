import { expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { finished } from '../steps.ts'
import { customerEffectsInSteps } from './customer-effect.ts'
import { prepareEstimator } from './estimator.ts'
import type { LaneQuote } from './quoted-lanes.ts'

const DAY = 86_400_000
const NOW = 20_010 * DAY

/** Twelve customers who differ, with 30 quotes a month for ten months. Each month has its own level, by `swing` in log odds. */
function swingOf(swing: number): number {
  const random = seededNumbers(11)
  const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
  const levels = Array.from({ length: 12 }, () => normal())
  const months = Array.from({ length: 12 * 10 }, () => swing * normal())
  const customerOf = new Map<number, number>()
  const quotes: LaneQuote[] = []
  for (let n = 0; n < 3_600; n++) {
    const [customer, month] = [n % 12, Math.floor(n / 360)]
    const level = (levels[customer] as number) + (months[12 * month + customer] as number)
    customerOf.set(n + 1, customer)
    quotes.push({
      laneId: n + 1,
      rateCents: Math.round(200_000 * Math.exp(0.05 * normal())),
      costCents: null,
      outcome: random() < 1 / (1 + Math.exp(-level)) ? 'won' : 'lost',
      // Blocks of 30 days begin on day 19,980.
      quotedAt: (19_710 + 30 * month + (n % 30)) * DAY,
      miles: null,
      lane: { key: `lane ${Math.floor(random() * 8)}`, scopes: [], costKeys: [] },
    })
  }
  const model = prepareEstimator({ quotes, now: NOW })
  const { columns } = model.quoted
  return finished(customerEffectsInSteps(model, (row) => customerOf.get(columns.laneId[row] as number) ?? -1))
    .swing
}

test('customers who win equally often in all months hardly swing', () => {
  expect(swingOf(0)).toBeLessThan(0.25)
})

test('customers who change from month to month swing by that much', () => {
  expect(swingOf(0.8)).toBeGreaterThan(0.6)
  expect(swingOf(0.8)).toBeLessThan(1.3)
})
