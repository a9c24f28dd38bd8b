import { describe, expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { type CostSeen, costsAhead, expectedCost, prepareCosts } from './expected-cost.ts'
import { isWeekend, weekendSentence } from './weekend-pickup.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY

const keysOf = (lane: number) => ['region', 'from', 'to', `states ${lane}`, `pair ${lane}`, `lane ${lane}`]

/** A load a day on each of four lanes. Of each week, two days are a weekend whose pickups cost more. */
function loadsOf(days: number, seed: number, effect: number): CostSeen[] {
  const random = seededNumbers(seed)
  return Array.from({ length: days * 4 }, (_, at) => {
    const day = Math.floor(at / 4)
    const weekendPickup = random() < 2 / 7
    const dollars =
      1500 * (1 + 0.2 * (at % 4)) * Math.exp((weekendPickup ? effect : 0) + 0.3 * (random() - 0.5))
    return {
      laneId: at,
      costCents: Math.round(100 * dollars),
      miles: 500,
      at: NOW - (days - day) * DAY,
      costKeys: keysOf(at % 4),
      weekendPickup,
    }
  })
}

const without = (loads: readonly CostSeen[]) => loads.map(({ weekendPickup: _, ...load }) => load)

describe('the effect of weekend pickups', () => {
  test('is found where there is one, and is in the expected cost of today and of the days ahead', () => {
    const model = prepareCosts(loadsOf(120, 1, Math.log(1.1)), NOW)
    expect(Math.expm1(model.weekend.effect)).toBeGreaterThan(0.08)
    expect(Math.expm1(model.weekend.effect)).toBeLessThan(0.12)
    const lane = { costKeys: keysOf(0), miles: 500 }
    const [other, weekend] = [lane, { ...lane, weekendPickup: true }].map((asked) =>
      [expectedCost(model, asked), ...costsAhead(model, asked)].map((cost) => cost?.costCents ?? Number.NaN),
    )
    for (const [at, cents] of (weekend ?? []).entries())
      expect(cents / (other?.[at] ?? Number.NaN)).toBeCloseTo(Math.exp(model.weekend.effect), 9)
    // The weekend pickups no longer raise the expected cost of other days.
    expect(Math.abs((other?.[0] ?? Number.NaN) / 150_000 - 1)).toBeLessThan(0.02)
  })

  test('stays zero without one, and the model is then the same as without pickup dates', () => {
    let claims = 0
    for (let seed = 1; seed <= 40; seed++) {
      const loads = loadsOf(60, seed, 0)
      const model = prepareCosts(loads, NOW)
      if (model.weekend.effect !== 0) claims++
      else expect(model).toEqual(prepareCosts(without(loads), NOW))
    }
    expect(claims).toBeLessThanOrEqual(2)
  })

  test('needs ten weekend pickups on lanes with other loads, and is limited', () => {
    const loads = loadsOf(120, 2, 0.1)
    const first = loads.findIndex(
      (_, at) => loads.slice(0, at).filter((load) => load.weekendPickup).length === 9,
    )
    expect(prepareCosts(loads.slice(0, first), NOW).weekend).toEqual({ effect: 0, loads: 0 })
    const alone = loads.filter((load) => load.weekendPickup)
    expect(prepareCosts(alone, NOW).weekend.effect).toBe(0)
    expect(prepareCosts(loadsOf(120, 3, 0.6), NOW).weekend.effect).toBe(0.25)
  })
})

test('weekends and the sentence', () => {
  expect(['2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09', null].map(isWeekend)).toEqual([
    false,
    true,
    true,
    false,
    false,
  ])
  expect(weekendSentence({ effect: Math.log(0.95), loads: 41 })).toBe(
    'Weekend pickup: 5% less than on other days, from 41 loads.',
  )
  expect(weekendSentence({ effect: 0, loads: 0 })).toBeNull()
})
