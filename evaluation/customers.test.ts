/** @module-tag long */
import { describe, expect, test } from 'vitest'
import { checkCustomers, forecastCustomers } from './src/customer-check.ts'

const plan = { lanes: 10, customers: 8, quotes: 800, loyalty: 0 }

describe('the customer in the estimate', () => {
  test('changes nothing where customers do not differ', () => {
    const { spread, errorWith, errorWithout, within80With, within80Without } = checkCustomers({
      ...plan,
      seed: 77,
      spread: 0,
    })
    expect([spread, errorWith, within80With]).toEqual([0, errorWithout, within80Without])
  })

  test('is nearer to the truth where they differ, also if each lane has a main customer', () => {
    const crossed = [78, 79, 80, 81, 82].map((seed) => checkCustomers({ ...plan, seed, spread: 1 }))
    for (const { errorWith, errorWithout, spread } of crossed) {
      expect(errorWith).toBeLessThan(errorWithout / 2)
      expect(spread).toBeGreaterThan(0.3)
      expect(spread).toBeLessThan(1.7)
    }
    // The ranges of a single brokerage contain 63 to 98 % of its 120 true chances.
    const within = crossed.reduce((sum, { within80With }) => sum + within80With, 0) / crossed.length
    expect(within).toBeGreaterThan(0.77)
    const loyal = checkCustomers({ ...plan, seed: 79, spread: 1, loyalty: 0.7 })
    expect(loyal.errorWith).toBeLessThan(loyal.errorWithout)
  })

  test('equals the estimate without it if there is a single customer', () => {
    const quotes = Array.from({ length: 200 }, (_, n) => ({
      quoteId: n + 1,
      customer: 7,
      rateCents: 200_000 + 1_000 * (n % 20),
      costCents: null,
      outcome: n % 3 === 0 ? ('won' as const) : ('lost' as const),
      quotedAt: Date.UTC(2026, 0, 1) + Math.floor(n / 4) * 86_400_000,
      miles: null,
      lane: { key: `lane ${n % 5}`, scopes: [], costKeys: [] },
    }))
    const found = forecastCustomers(quotes, { warmUpDays: 10, everyDays: 20 })
    expect(found.spread).toBe(0)
    expect(found.brierWith).toBe(found.brierWithout)
  })
})
