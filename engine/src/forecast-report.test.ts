import { describe, expect, test } from 'vitest'
import {
  FORECASTS_MIN,
  type ForecastQuote,
  forecastResult,
  forecastScorer,
  forecastSentence,
  scoringOf,
} from './forecast-report.ts'
import { laneWinRate } from './recorded-forecast.ts'

const madeAt = '2026-03-02T15:00:00.250Z'
const base: ForecastQuote = {
  forecast: { made_at: madeAt, win_probability: 0.5, lane_win_rate: 0.5, quoted_as: '2000' },
  month: '2026-03',
  rateType: 'spot',
  lane: 'a',
  outcome: 'won',
  decidedAt: Date.parse(madeAt) + 60_000,
  isVoid: false,
  supersededAs: null,
  quotedAs: '2000',
}
const quote = (over: Partial<ForecastQuote>): ForecastQuote => ({ ...base, ...over })

describe('a forecast', () => {
  test.each<[string, Partial<ForecastQuote>, ReturnType<typeof scoringOf>]>([
    ['of a won quote', {}, { won: true }],
    ['of a lost quote', { outcome: 'lost' }, { won: false }],
    ['of a pending quote', { outcome: 'pending', decidedAt: null }, { unscored: 'undecided' }],
    ['of an expired quote', { outcome: 'expired' }, { unscored: 'expired' }],
    ['of a voided quote', { isVoid: true }, { unscored: 'void' }],
    ['of an offer that another one replaced', { supersededAs: 'replaced' }, { unscored: 'superseded' }],
    [
      'of an offer that the customer refused',
      { outcome: 'pending', decidedAt: null, supersededAs: 'refused' },
      { won: false },
    ],
    ['of a quote that changed its rate', { quotedAs: '1900' }, { unscored: 'rate_changed' }],
    [
      'without its rate, of a quote of an earlier version',
      { forecast: { ...base.forecast, quoted_as: null }, quotedAs: '1900' },
      { won: true },
    ],
    ['that came after the decision', { decidedAt: Date.parse(madeAt) - 1_000 }, { unscored: 'late' }],
    // A signed outcome has whole seconds.
    ['of the second of the decision', { decidedAt: Date.parse('2026-03-02T15:00:00Z') }, { won: true }],
  ])('%s', (_, over, scoring) => {
    expect(scoringOf(quote(over), false)).toEqual(scoring)
  })

  test('of an expired quote is lost if the brokerage counts it as lost', () => {
    expect(scoringOf(quote({ outcome: 'expired' }), true)).toEqual({ won: false })
  })
})

/** A report of quotes on ten lanes. On each lane, every fourth quote was won. */
function reportOf(forecast: Partial<ForecastQuote['forecast']>, quotes = 2 * FORECASTS_MIN) {
  const scorer = forecastScorer(false)
  for (let nth = 0; nth < quotes; nth++) {
    scorer.add(
      quote({
        forecast: { ...base.forecast, lane_win_rate: 0.3, ...forecast },
        lane: `${Math.floor(nth / 4) % 10}`,
        outcome: nth % 4 === 0 ? 'won' : 'lost',
        month: nth % 2 === 0 ? '2026-02' : '2026-03',
        rateType: nth % 3 === 0 ? 'contract' : 'spot',
      }),
    )
  }
  return scorer.report()
}

describe('the report', () => {
  test('has scores, groups, and a row for each month and rate type', () => {
    const report = reportOf({ win_probability: 0.25 })
    expect(report).toMatchObject({
      forecasts: 200,
      scored: 200,
      won: 50,
      lanes: 10,
      meanForecast: 0.25,
      winRateOfLane: { quotes: 200 },
    })
    // 1/4 of (1 - p)^2 and 3/4 of p^2.
    expect(report.brier).toBeCloseTo(0.1875, 9)
    expect(report.winRateOfLane?.laneWinRateBrier).toBeCloseTo(0.19, 9)
    expect(report.winRateOfLane?.better.mean).toBeCloseTo(0.0025, 9)
    expect(report.months.map(({ month, rateType, scored }) => [month, rateType, scored])).toEqual([
      ['2026-03', 'spot', 67],
      ['2026-03', 'contract', 33],
      ['2026-02', 'spot', 66],
      ['2026-02', 'contract', 34],
    ])
    expect(report.reliability.reduce((sum, { count }) => sum + count, 0)).toBe(200)
  })

  test.each([
    ['good', { win_probability: 0.25 }],
    ['too_high', { win_probability: 0.5 }],
    ['too_low', { win_probability: 0.05 }],
    ['behind_lane_rate', { win_probability: 0.29, lane_win_rate: 0.25 }],
  ] as const)('is %s', (standing, forecast) => {
    const report = reportOf(forecast)
    expect(forecastResult(report)).toBe(standing)
    expect(forecastSentence(report)).toMatch(
      {
        good: /reliable/,
        too_high: /too high: 50 of 200/,
        too_low: /too low/,
        behind_lane_rate: /squared error is 0\.188/,
      }[standing],
    )
  })

  test('says nothing about few quotes or few lanes', () => {
    expect(forecastResult(reportOf({}, FORECASTS_MIN - 1))).toBe('unknown')
    const scorer = forecastScorer(false)
    for (let nth = 0; nth < 200; nth++) scorer.add(quote({ lane: `${nth % 4}`, outcome: 'lost' }))
    expect(forecastResult(scorer.report())).toBe('unknown')
    expect(forecastSentence(forecastScorer(false).report())).toContain('0 of 100')
  })
})

test('the win rate of a lane starts at that of the brokerage', () => {
  expect(laneWinRate({ won: 0, decided: 0 }, { won: 29, decided: 98 })).toBeCloseTo(0.3, 9)
  expect(laneWinRate({ won: 1, decided: 2 }, { won: 29, decided: 98 })).toBeCloseTo(0.4, 9)
})
