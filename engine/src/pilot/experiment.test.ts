import { expect, test } from 'vitest'
import { armOf, experimentResult, permitsExperiment, suggestionOf } from './experiment.ts'
import type { PilotEntry } from './pilot-entries.ts'
import { pilotScorer } from './pilot-report.ts'

const optimum = {
  rateCents: 200_000,
  winProbability: 0.5,
  expectedMarginCents: 15_000,
  flatZone: { lowCents: 195_010, highCents: 205_090 },
  atEdge: false,
  floorCents: null,
  flooredRateCents: 200_000,
  flooredExpectedMarginCents: 15_000,
}
const asked = { lane: 'dallas|TX>atlanta|GA V', day: 20_000, optimum }

test('an arm depends on the seed, the lane and the day only, and both are as likely', () => {
  const arms = Array.from({ length: 2_000 }, (_, nth) => armOf({ seed: 'a' }, `lane ${nth % 50}`, nth))
  expect(Math.abs(arms.filter((arm) => arm === 'low').length - 1_000)).toBeLessThan(100)
  expect(armOf({ seed: 'a' }, 'lane', 1)).toBe(armOf({ seed: 'a' }, 'lane', 1))
  const other = arms.filter((arm, nth) => arm !== armOf({ seed: 'b' }, `lane ${nth % 50}`, nth))
  expect(Math.abs(other.length - 1_000)).toBeLessThan(100)
})

test('a suggestion is within the flat zone and not below the floor, or there is none', () => {
  const rates = new Set(
    Array.from({ length: 40 }, (_, day) => suggestionOf({ seed: 'a' }, { ...asked, day })?.rateCents),
  )
  expect([...rates].toSorted()).toEqual([195_100, 205_000])
  const floored = { ...optimum, floorCents: 201_050 }
  const above = Array.from({ length: 40 }, (_, day) =>
    suggestionOf({ seed: 'a' }, { ...asked, day, optimum: floored }),
  )
  expect(above.every((one) => (one?.rateCents ?? 0) >= 201_050)).toBe(true)
  for (const none of [
    { ...optimum, floorCents: 205_000 },
    { ...optimum, atEdge: true },
    { ...optimum, expectedMarginCents: -1 },
    { ...optimum, flatZone: { lowCents: 200_000, highCents: 200_000 } },
    null,
  ]) {
    expect(suggestionOf({ seed: 'a' }, { ...asked, optimum: none })).toBeNull()
  }
})

test('pricing rules other than a minimum for all quotes leave no room for an experiment', () => {
  const rule = (conditions: object, terms: object) => ({ ruleId: 1, conditions, terms })
  expect(permitsExperiment([])).toBe(true)
  expect(permitsExperiment([rule({}, { minimum: { pct: 10 }, outside: 'block' })])).toBe(true)
  expect(permitsExperiment([rule({ equipment: 'V' }, { minimum: { pct: 10 } })])).toBe(false)
  expect(permitsExperiment([rule({}, { target: { pct: 12 } })])).toBe(false)
  expect(permitsExperiment([rule({}, { maximum: { pct: 30 } })])).toBe(false)
  expect(permitsExperiment([rule({}, { roundToCents: 2_500 })])).toBe(false)
})

test('the result is the difference of the means; too few lanes and days give none', () => {
  const quotes = Array.from({ length: 80 }, (_, nth) => ({
    arm: nth % 2 === 0 ? ('low' as const) : ('high' as const),
    unit: `${nth}`,
    earned: nth % 2 === 0 ? 100 : 130,
  }))
  expect(experimentResult(quotes)).toEqual({
    low: { quotes: 40, earned: 100 },
    high: { quotes: 40, earned: 130 },
    gain: 30,
    range95: { low: 30, high: 30 },
  })
  expect(experimentResult(quotes.map((quote) => ({ ...quote, unit: 'one' })))).toBeNull()
})

const dayMs = 86_400_000

test('the result is computed once: from the planned quotes, 30 days after the last of them', () => {
  const forecast = (nth: number): PilotEntry => ({
    entry: nth + 3,
    at: nth * dayMs,
    kind: 'forecast',
    body: {
      lane_ref: `${nth}-1-1`,
      external_id: null,
      lane: `lane ${nth}`,
      rep: null,
      quoted_at: new Date(nth * dayMs).toISOString(),
      quoted_as: '2000',
      basis: 'all_in',
      rate: 2_000,
      cost: 1_500,
      cost_from: 'entered',
      probability: 0.5,
      interval_80: [0.4, 0.6],
      interval_95: [0.3, 0.7],
      lane_won: 1,
      lane_decided: 2,
      all_won: 1,
      all_decided: 2,
      going_rate: 2_000,
      probability_at_going: 0.5,
      best_rate: 2_000,
      probability_at_best: 0.5,
      model: '1',
      experiment: { arm: nth % 2 === 0 ? 'low' : 'high', rate: 2_000, day: nth },
      late: null,
      no_forecast: null,
    },
  })
  const outcome = (
    nth: number,
    at: number,
    apart: { kept_apart?: true; decided_at?: string } = {},
  ): PilotEntry => ({
    entry: nth + 1_000,
    at,
    kind: 'outcome',
    body: {
      lane_ref: `${nth}-1-1`,
      outcome: 'won',
      reason: null,
      source: 'tms',
      decided_at: new Date(at).toISOString(),
      quoted_as: '2000',
      basis: 'all_in',
      rate: 2_000,
      revenue: 2_000,
      cost: 1_600,
      ...apart,
    },
  })
  const scorer = pilotScorer()
  scorer.add({
    entry: 2,
    at: 0,
    kind: 'experiment',
    body: { action: 'started', by: 1, seed_sha256: 'a', quotes: 50, days: 30, cost_share_max: 0.02 },
  })
  for (let nth = 0; nth < 49; nth++) scorer.add(forecast(nth))
  expect(scorer.report().experiment).toMatchObject({ state: 'collecting', assigned: 49, result: null })
  for (let nth = 49; nth < 60; nth++) scorer.add(forecast(nth))
  expect(scorer.report().experiment).toMatchObject({
    state: 'waiting',
    assigned: 50,
    followed: 50,
    result: null,
  })
  // Won within 30 days, and too late.
  scorer.add(outcome(1, 10 * dayMs))
  scorer.add(outcome(0, 31 * dayMs))
  scorer.add(outcome(55, 79 * dayMs))
  expect(scorer.report().experiment).toMatchObject({
    state: 'done',
    result: { low: { quotes: 25, earned: 0 }, high: { quotes: 25, earned: 16 }, gain: 16 },
  })
  // A booking that cannot be converted counts with the rate and the cost of its forecast.
  const decidedAt = new Date(32 * dayMs).toISOString()
  scorer.add(outcome(3, 80 * dayMs, { kept_apart: true, decided_at: decidedAt }))
  expect(scorer.report().experiment).toMatchObject({
    keptApart: 1,
    result: { high: { quotes: 25, earned: 36 } },
  })
  // Entries of earlier versions have only the rate.
  const { rate_changed: changed } = scorer.report().unscored
  for (const [nth, rate] of [
    [5, 2_000],
    [7, 1_900],
  ] as const) {
    const { body, ...entry } = outcome(nth, 81 * dayMs) as Extract<PilotEntry, { kind: 'outcome' }>
    const { quoted_as: _, basis: __, ...earlier } = body
    scorer.add({ ...entry, body: { ...earlier, rate } })
  }
  const { experiment, unscored } = scorer.report()
  expect([experiment?.keptApart, unscored.rate_changed]).toEqual([1, changed + 1])
})
