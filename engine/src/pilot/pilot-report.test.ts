import { describe, expect, test } from 'vitest'
import type { ForecastBody, OutcomeBody, PilotEntry } from './pilot-entries.ts'
import { type PilotReport, pilotScorer, RANGE_LANES_MIN, type Unscored } from './pilot-report.ts'

/** Promise: the report of a pilot scores each decided quote once, by the last forecast before its decision, and nothing else. */

const second = 1_000
const forecastAt = Date.parse('2026-03-02T10:00:00Z')

const forecastBody = (body: Partial<ForecastBody> = {}): ForecastBody => ({
  lane_ref: 'A-1-1',
  external_id: null,
  lane: 'Dallas, TX>Atlanta, GA V',
  rep: 'Sam',
  quoted_at: '2026-03-02T10:00:00.000Z',
  quoted_as: '2000',
  basis: 'all_in',
  rate: 2000,
  cost: 1700,
  cost_from: 'expected',
  probability: 0.6,
  interval_80: null,
  interval_95: null,
  lane_won: 3,
  lane_decided: 6,
  all_won: 29,
  all_decided: 98,
  going_rate: 2100,
  probability_at_going: 0.5,
  best_rate: 2050,
  probability_at_best: 0.55,
  model: 'a model',
  late: null,
  no_forecast: null,
  ...body,
})
const outcomeBody = (body: Partial<OutcomeBody> = {}): OutcomeBody => ({
  lane_ref: 'A-1-1',
  outcome: 'won',
  reason: null,
  source: 'dashboard',
  decided_at: '2026-03-03T10:00:00.000Z',
  quoted_as: '2000',
  basis: 'all_in',
  rate: 2000,
  revenue: null,
  cost: null,
  ...body,
})

const forecast = (body: Partial<ForecastBody> = {}, at = forecastAt) => ({
  at,
  kind: 'forecast' as const,
  body: forecastBody(body),
})
const outcome = (body: Partial<OutcomeBody> = {}, at = forecastAt + 86_400 * second) => ({
  at,
  kind: 'outcome' as const,
  body: outcomeBody(body),
})
const started = (expiredCountsAsLost: boolean) => ({
  at: forecastAt - second,
  kind: 'started' as const,
  body: {
    format: 'lanewise pilot 1' as const,
    brokerage: { id: 1, name: 'Acme' },
    by: 1,
    expired_counts_as_lost: expiredCountsAsLost,
    model: 'a model',
  },
})

type Unnumbered = PilotEntry extends infer Entry
  ? Entry extends PilotEntry
    ? Omit<Entry, 'entry'>
    : never
  : never

function reportOn(...entries: readonly Unnumbered[]): PilotReport {
  const scorer = pilotScorer()
  entries.forEach((one, index) => {
    scorer.add({ ...one, entry: index + 1 } as PilotEntry)
  })
  return scorer.report()
}

const unscored = (why: Partial<Record<Unscored, number>>) => ({
  undecided: 0,
  late: 0,
  no_forecast: 0,
  void: 0,
  expired: 0,
  rate_changed: 0,
  ...why,
})

test('an empty pilot has no scores', () => {
  expect(reportOn()).toEqual({
    entries: 0,
    forecasts: 0,
    scored: 0,
    won: 0,
    lanes: 0,
    unscored: unscored({}),
    corrections: 0,
    keptApart: 0,
    scores: null,
    better: null,
    reliability: [],
    meanForecast: null,
    experiment: null,
    dollars: null,
  })
})

describe('a decided quote', () => {
  test('is scored by the model and by the win rates of its lane, its rep and the brokerage', () => {
    const report = reportOn(started(false), forecast(), outcome())
    expect(report).toMatchObject({
      entries: 3,
      forecasts: 1,
      scored: 1,
      won: 1,
      lanes: 1,
      unscored: unscored({}),
    })
    // The brokerage won 30 of 100 with a pseudo-quote of each outcome; the lane 3 of 6 and 2 at 0.3; the rep none and 5 at 0.3.
    const overall = 30 / 100
    expect(report.scores?.model.brier).toBeCloseTo((1 - 0.6) ** 2, 12)
    expect(report.scores?.overall.brier).toBeCloseTo((1 - overall) ** 2, 12)
    expect(report.scores?.lane_rate.brier).toBeCloseTo((1 - (3 + 2 * overall) / 8) ** 2, 12)
    expect(report.scores?.rep_rate.brier).toBeCloseTo((1 - overall) ** 2, 12)
    expect(report.scores?.model.logLoss).toBeCloseTo(-Math.log(0.6), 12)
    expect(report.better?.brier).toBeCloseTo((1 - (3 + 2 * overall) / 8) ** 2 - (1 - 0.6) ** 2, 12)
    expect(report.meanForecast).toBe(0.6)
  })

  test('is scored by the last forecast before its decision', () => {
    const requoted = forecast({ probability: 0.4, quoted_as: '2100', rate: 2100 })
    const won = outcome({ quoted_as: '2100', rate: 2100 })
    expect(reportOn(forecast(), requoted, won)).toMatchObject({ forecasts: 2, scored: 1, meanForecast: 0.4 })
    // Its rate was changed after the decision: the forecast for the decided rate stays.
    expect(reportOn(forecast(), outcome(), requoted)).toMatchObject({
      forecasts: 2,
      scored: 1,
      meanForecast: 0.6,
    })
  })

  test('counts with its newest outcome, and each change after the first decision is a correction', () => {
    const lost = outcome({ outcome: 'lost' })
    expect(reportOn(forecast(), outcome(), lost)).toMatchObject({ scored: 1, won: 0, corrections: 1 })
    expect(reportOn(forecast(), outcome(), lost, outcome())).toMatchObject({ won: 1, corrections: 2 })
    expect(reportOn(forecast(), outcome(), outcome({ reason: 'price' })).corrections).toBe(0)
    const expired = outcome({ outcome: 'expired' })
    expect(reportOn(forecast(), expired, outcome()).corrections).toBe(0)
  })

  test('counts in the win rate of its rep for later forecasts, also after a correction', () => {
    const next = { lane_ref: 'A-2-1', all_won: 49, all_decided: 98 }
    const repRate = (...before: readonly Unnumbered[]) =>
      1 -
      Math.sqrt(
        reportOn(...before, forecast(next), outcome({ lane_ref: 'A-2-1' })).scores?.rep_rate.brier ?? 1,
      )
    const only = (...before: readonly Unnumbered[]) => {
      // The first quote is not scored itself: its forecast was late.
      return repRate(forecast({ late: 'decided_before' }), ...before)
    }
    expect(only()).toBeCloseTo(0.5, 12)
    expect(only(outcome())).toBeCloseTo((1 + 5 * 0.5) / 6, 12)
    expect(only(outcome({ outcome: 'lost' }))).toBeCloseTo((5 * 0.5) / 6, 12)
    expect(only(outcome(), outcome({ outcome: 'lost' }))).toBeCloseTo((5 * 0.5) / 6, 12)
    expect(only(outcome(), outcome({ outcome: 'void' }))).toBeCloseTo(0.5, 12)
  })
})

describe('a quote is not scored', () => {
  const why = (...entries: readonly Unnumbered[]) => {
    const report = reportOn(...entries)
    expect(report.scored).toBe(0)
    return report.unscored
  }

  test('without an outcome, or after one was taken back', () => {
    expect(why(forecast())).toEqual(unscored({ undecided: 1 }))
    expect(why(forecast(), outcome(), outcome({ outcome: 'pending' }))).toEqual(unscored({ undecided: 1 }))
  })

  test('if it was voided', () => {
    expect(why(forecast(), outcome({ outcome: 'void' }))).toEqual(unscored({ void: 1 }))
  })

  test('if it was decided before its forecast; times of signatures have whole seconds', () => {
    const at = forecastAt + 700
    const decided = (ms: number) => outcome({ decided_at: new Date(ms).toISOString() })
    expect(why(forecast({}, at), decided(forecastAt - 1))).toEqual(unscored({ late: 1 }))
    expect(reportOn(forecast({}, at), decided(forecastAt)).scored).toBe(1)
    expect(why(forecast({ late: 'quoted_long_before' }), outcome())).toEqual(unscored({ late: 1 }))
  })

  test('without a forecast', () => {
    expect(why(forecast({ probability: null, no_forecast: 'no_quotes' }), outcome())).toEqual(
      unscored({ no_forecast: 1 }),
    )
  })

  test('if its rate was changed, as it was sent; a converted amount may change by itself', () => {
    expect(why(forecast(), outcome({ quoted_as: '2100' }))).toEqual(unscored({ rate_changed: 1 }))
    expect(reportOn(forecast(), outcome({ rate: 2003.5 })).scored).toBe(1)
    // An entry of an earlier version has only the amount.
    const { quoted_as: _, ...earlier } = outcomeBody({ rate: 2003.5 })
    expect(why(forecast(), { ...outcome(), body: earlier })).toEqual(unscored({ rate_changed: 1 }))
  })

  test('if it expired, unless expired quotes counted as lost at the start before its forecast', () => {
    const expired = outcome({ outcome: 'expired' })
    expect(why(started(false), forecast(), expired)).toEqual(unscored({ expired: 1 }))
    expect(reportOn(started(true), forecast(), expired)).toMatchObject({ scored: 1, won: 0 })
    expect(reportOn(started(true), forecast(), started(false), expired).scored).toBe(1)
    expect(why(started(false), forecast(), started(true), expired)).toEqual(unscored({ expired: 1 }))
  })

  test('an outcome of a quote without a forecast changes nothing', () => {
    expect(reportOn(outcome({ lane_ref: 'A-9-1' }))).toMatchObject({
      entries: 1,
      scored: 0,
      unscored: unscored({}),
    })
  })
})

describe('the dollars', () => {
  test('are the margins expected at the quoted, the best and the going rate, and what was earned', () => {
    const booked = outcome({ revenue: 2010, cost: 1750 })
    const second = [forecast({ lane_ref: 'A-2-1' }), outcome({ lane_ref: 'A-2-1', outcome: 'lost' })]
    const { dollars } = reportOn(forecast(), booked, ...second)
    expect(dollars).toMatchObject({ quotes: 2, lanes: 1, earned: 260, range: null })
    expect(dollars?.quoted).toBeCloseTo(2 * 0.6 * 300, 9)
    expect(dollars?.best).toBeCloseTo(2 * 0.55 * 350, 9)
    expect(dollars?.going).toBeCloseTo(2 * 0.5 * 400, 9)
    expect(dollars?.difference).toBeCloseTo(2 * (0.55 * 350 - 0.6 * 300), 9)
  })

  test('of a win without booked amounts are those of its forecast', () => {
    expect(reportOn(forecast(), outcome()).dollars?.earned).toBe(300)
  })

  test.each([
    ['that were kept apart', {}, { kept_apart: true as const }],
    ['on another default basis', {}, { basis: 'linehaul' as const }],
  ])('leave out amounts %s, which the scores count', (_which, before, after) => {
    expect(reportOn(forecast(before), outcome(after))).toMatchObject({
      scored: 1,
      keptApart: 1,
      dollars: null,
    })
  })

  test.each(['rate', 'cost', 'best_rate', 'going_rate'] as const)(
    'leave out a quote without %s',
    (member) => {
      const report = reportOn(forecast({ [member]: null }), outcome(member === 'rate' ? { rate: null } : {}))
      expect(report).toMatchObject({ scored: 1, keptApart: 0, dollars: null })
    },
  )
})

describe('a range', () => {
  const lanes = (count: number) =>
    Array.from({ length: count }, (_, nth) => {
      const lane_ref = `A-${nth}-1`
      return [
        forecast({ lane_ref, lane: `lane ${nth}`, probability_at_best: 0.55 + nth / 100 }),
        outcome({ lane_ref, outcome: nth % 2 === 0 ? 'won' : 'lost' }),
      ]
    }).flat()

  test('needs five lanes', () => {
    const few = reportOn(...lanes(RANGE_LANES_MIN - 1))
    expect([few.better?.range, few.dollars?.range]).toEqual([null, null])
    const enough = reportOn(...lanes(RANGE_LANES_MIN))
    for (const range of [enough.better?.range, enough.dollars?.range])
      expect(range).toEqual({ low: expect.any(Number), high: expect.any(Number) })
  })

  test('is around its value, is narrower with more lanes, and repeats', () => {
    const [some, more] = [reportOn(...lanes(8)), reportOn(...lanes(80))]
    const width = ({ better }: PilotReport) => (better?.range?.high ?? 0) - (better?.range?.low ?? 0)
    for (const { better, dollars } of [some, more]) {
      for (const [value, range] of [
        [better?.brier, better?.range],
        [dollars?.difference, dollars?.range],
      ] as const) {
        expect(range?.low).toBeLessThan(value ?? 0)
        expect(range?.high).toBeGreaterThan(value ?? 0)
      }
    }
    expect(width(more)).toBeLessThan(width(some) / 2)
    expect(reportOn(...lanes(8))).toEqual(some)
  })
})
