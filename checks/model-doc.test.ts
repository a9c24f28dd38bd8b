import { describe, expect, test } from 'vitest'
import { BUCKET_DAYS, BUCKETS_MAX, laneBuckets } from '#engine/buckets.ts'
import { confidence } from '#engine/confidence.ts'
import { costThatCounts, type Outcome, type PastQuote, rateThatCounts } from '#engine/history.ts'
import { countHistory } from '#engine/history-counts.ts'
import { describeLane } from '#engine/lane-insight.ts'
import { adviseMarkup } from '#engine/markup.ts'
import { greatCircleMiles, roadMiles } from '#engine/miles.ts'
import { OUTLIER_RULE, outliersInSteps } from '#engine/outliers.ts'
import { performanceOf, shortfall } from '#engine/performance.ts'
import { countRates } from '#engine/rate-counts.ts'
import { RATE_WARNING_RULE, rateWarnings } from '#engine/rate-warnings.ts'
import { SCOPES } from '#engine/scopes.ts'
import { laneScores, PAR_PRIOR, par, SCORE_RULE } from '#engine/scores.ts'
import { laneSignals, SIGNAL_RULE } from '#engine/signals.ts'
import { DEVIATIONS_80 } from '#engine/statistics/normal-cdf.ts'
import { finished } from '#engine/steps.ts'
import { LOSS_CUSHION_PERCENT, suggestedRate } from '#engine/suggested-rate.ts'
import {
  COMPARABLE_TOLERANCE_PERCENT,
  WITHHELD_QUOTES,
  type WinProbabilityMethod,
  winProbability,
} from '#engine/win-probability.ts'
import { laneHistory, ratesOf, WORKED_EXAMPLE } from '../engine/testing/lane-history.ts'
import { tableRows } from './page.ts'
import { textOf } from './repository.ts'

const page = 'docs/model.md'
const examples = (heading: string) => {
  const rows = tableRows(page, heading)
  if (rows.length === 0) throw new Error(`${page} has no examples under "${heading}".`)
  return rows
}

const historyOf = (text = ''): PastQuote[] => (text === 'ten quotes' ? WORKED_EXAMPLE : laneHistory(text))
const ratesOfText = (text = '') => ratesOf(historyOf(text))
const centsOf = (text = '') => Math.round(Number(text) * 100)
const optionalCents = (text = '') => (text === '-' ? null : centsOf(text))
const shownDollars = (cents: number | null) => (cents === null ? '-' : String(cents / 100))
const counts = (text = '') => text.split(' ').map(Number)
/** Compares with six decimals, the most that docs/model.md shows. */
const close = (found: number | null, text = '') => expect(found).toBeCloseTo(Number(text), 6)

function bucketsOf([quotes, wins, losses]: (string | undefined)[]) {
  const [won, lost] = [counts(wins), counts(losses)]
  return counts(quotes).map((count, at) => ({ quotes: count, wins: won[at] ?? 0, losses: lost[at] ?? 0 }))
}

const noFindings = {
  lostToCostCents: 0,
  lostToRateCents: 0,
  quotesWithCost: 0,
  quotedTooLow: 0,
  quotedTooLowWon: 0,
  quotedTooLowCents: 0,
}

describe('the examples in docs/model.md', () => {
  test.each(examples('What counts'))('quoted %s, booked %s: %s counts', (...row) => {
    const [quoted, booked, rate, estimate, cost, costCounts] = row
    expect(
      shownDollars(
        rateThatCounts({ quotedRateCents: centsOf(quoted), customerRateCents: optionalCents(booked) }),
      ),
    ).toBe(rate)
    expect(
      shownDollars(
        costThatCounts({ estimatedCostCents: optionalCents(estimate), truckCostCents: optionalCents(cost) }),
      ),
    ).toBe(costCounts)
  })

  test.each(examples('Confidence'))('%s decided quotes: %s', (decided, level) => {
    expect(confidence(Number(decided))).toBe(level)
  })

  test.each(examples('Rate band and markup_pct'))('band and markup of %s at %s, market %s', (...row) => {
    const [quotes, proposed, market, floor, median, ceiling, markup] = row
    const advice = adviseMarkup(ratesOfText(quotes), {
      proposedRateCents: centsOf(proposed),
      marketRateCents: optionalCents(market),
      method: 'at_or_below',
    })
    const { floorCents, medianCents, ceilingCents } = advice.rateBand
    expect([floorCents, medianCents, ceilingCents].map(shownDollars)).toEqual([floor, median, ceiling])
    expect(advice.markupPct === null ? '-' : String(advice.markupPct)).toBe(markup)
  })

  test.each(examples('Win probability'))('win probability at %s', (proposed, ...shares) => {
    const methods: WinProbabilityMethod[] = ['at_or_below', 'literal', 'revealed']
    for (const [at, method] of methods.entries()) {
      close(winProbability(ratesOf(WORKED_EXAMPLE), centsOf(proposed), method).probability, shares[at])
    }
  })

  test.each(examples('Pooling'))('the running mean of %s', (quotes, running) => {
    const history = historyOf(quotes)
    const floor = WITHHELD_QUOTES / (history.length + 1)
    for (const [at, expected] of counts(running).entries()) {
      const found = winProbability(
        ratesOfText(quotes),
        history[at]?.rateCents ?? 0,
        'at_or_below',
      ).probability
      // The probability is clamped away from 0 and 1; the table shows the mean before clamping.
      expect(found).toBeCloseTo(Math.min(1 - floor, Math.max(floor, expected)), 6)
    }
  })

  test.each(examples('Suggested rate'))('suggested rate of %s', (quotes, rate, basis) => {
    const suggestion = suggestedRate(countRates(historyOf(quotes)))
    expect(shownDollars(suggestion.rateCents)).toBe(rate)
    expect(suggestion.basis ?? '-').toBe(basis)
  })

  test.each(examples('Outliers'))('outliers among %s', (quotes, rates) => {
    const found = finished(outliersInSteps(historyOf(quotes))).map((outlier) =>
      shownDollars(outlier.rateCents),
    )
    expect(found.join(' ') || '-').toBe(rates)
  })

  test.each(examples('The verdict'))('the verdict on %s at %s', (quotes, proposed, sentence) => {
    const offer = {
      proposedRateCents: centsOf(proposed),
      marketRateCents: null,
      method: 'at_or_below',
    } as const
    expect(adviseMarkup(ratesOfText(quotes), offer).verdict).toBe(sentence)
  })

  /** Lane insight about a history, as if it were all that the brokerage has. */
  const insightOf = (quotes = '') =>
    describeLane({
      counts: countHistory(historyOf(quotes), Date.UTC(2026, 2, 1)),
      parent: { wins: 0, decided: 0 },
      askedScope: 'equipment',
      usedScope: 'equipment',
      avgRateCents: null,
    }).history

  test.each(examples('History'))('the history of %s', (quotes, ...expected) => {
    const { totalQuotes, wins, losses, winRatePct, monthsActive, avgRateCents } = insightOf(quotes)
    const found = [totalQuotes, wins, losses, winRatePct, monthsActive, avgRateCents / 100]
    expect(found.map(String)).toEqual(expected)
  })

  test.each(examples('Other readings'))('%s of %s at %s is %s', (member = '', quotes, proposed, here) => {
    const { winProbability, suggestedRateCents, rateBand } = adviseMarkup(ratesOfText(quotes), {
      proposedRateCents: optionalCents(proposed) ?? 0,
      marketRateCents: null,
      method: 'at_or_below',
    })
    const found: Readonly<Record<string, string>> = {
      win_probability: winProbability === null ? '-' : String(Math.round(winProbability * 1e6) / 1e6),
      suggested_rate: shownDollars(suggestedRateCents),
      'rate_band.floor': shownDollars(rateBand.floorCents),
      'rate_band.ceiling': shownDollars(rateBand.ceilingCents),
      win_rate_pct: String(insightOf(quotes).winRatePct),
    }
    expect(found[member]).toBe(here)
  })

  test('the scopes, most trusted first, with their minimums', () => {
    expect(examples('Scopes').map(([scope, , ...minimum]) => [scope, ...minimum.map(Number)])).toEqual(
      SCOPES.map(({ scope, minimum }) => [scope, minimum.quotes, minimum.decided, minimum.lanes]),
    )
  })

  test.each(examples('Months'))('periods of quotes %s days ago', (days, ...expected) => {
    const now = Date.UTC(2026, 2, 1)
    const outcomes: Record<string, Outcome> = { W: 'won', L: 'lost', P: 'pending' }
    const quotes = (days ?? '').split(' ').map((day) => ({
      rateCents: 0,
      quotedAt: now - Number.parseInt(day, 10) * 86_400_000,
      outcome: outcomes[day.slice(-1)] ?? 'pending',
    }))
    expect(laneBuckets(countHistory(quotes, now)).buckets).toEqual(bucketsOf(expected))
  })

  test.each(examples('Par'))('par of a tenant with %s of %s and a lane with %s of %s', (...row) => {
    const [tenantWins = 0, tenantDecided = 0, wins = 0, decided = 0] = row.map(Number)
    close(par({ wins: tenantWins, decided: tenantDecided }, { wins, decided }), row[4])
  })

  test.each(examples('Scores'))('scores of quotes %s, wins %s, losses %s', (...row) => {
    const { scores } = laneScores(bucketsOf(row.slice(0, 3)), 0.4)
    close(scores.integral, row[3])
    close(scores.derivative, row[4])
    close(scores.harmonic, row[5])
    close(scores.correlation, row[6])
  })

  test.each(examples('Signals of examples'))(
    'signals at par %s of quotes %s, wins %s, losses %s',
    (...row) => {
      const [parShare, quotes, wins, losses, ...words] = row
      const found = laneSignals(laneScores(bucketsOf([quotes, wins, losses]), Number(parShare)))
      expect([found.strength, found.trend, found.consistency, found.timing]).toEqual(words)
    },
  )

  test.each(examples('Quoted and landed margin'))('quoted %s on %s, booked %s and %s', (...row) => {
    const [quotedRateCents = 0, quotedCostCents = 0, customerRateCents = 0, truckCostCents = 0] = row
      .slice(0, 4)
      .map(centsOf)
    const sums = {
      quotes: 1,
      won: 1,
      lost: 0,
      shipments: 1,
      customerRateCents,
      truckCostCents,
      comparableShipments: 1,
      comparableMarginCents: customerRateCents - truckCostCents,
      quotedMarginCents: quotedRateCents - quotedCostCents,
      ...noFindings,
    }
    const found = performanceOf(sums)
    const gap = shortfall({ quotedRateCents, quotedCostCents, customerRateCents, truckCostCents })
    const shown = [found.quotedMarginCents, found.marginCents, gap?.shortfallCents ?? null].map(shownDollars)
    expect([...shown, gap?.because ?? '-']).toEqual(row.slice(4))
    if (gap !== null) expect(found.landedVsQuotedCents).toBe(-gap.shortfallCents)
  })

  test.each(examples('Win rate of a period'))('win rate of %s won and %s lost', (...row) => {
    const [won = 0, lost = 0, ratePct, lowPct, highPct] = row.map(Number)
    const found = performanceOf({
      quotes: won + lost,
      won,
      lost,
      shipments: 0,
      customerRateCents: 0,
      truckCostCents: 0,
      comparableShipments: 0,
      comparableMarginCents: 0,
      quotedMarginCents: 0,
      ...noFindings,
    })
    expect([found.winRatePct, found.winRateInterval]).toEqual([ratePct, { lowPct, highPct }])
  })

  test.each(examples('Rates to check'))(
    'warnings about %s with cost %s, floor %s, going rate %s',
    (...row) => {
      const [rate, cost, floor, going, own, warnings] = row
      const [costCents, goingCents] = [optionalCents(cost), optionalCents(going)]
      const found = rateWarnings({
        rateCents: centsOf(rate),
        cost: costCents === null ? null : { cents: costCents, source: 'expected' },
        floorCents: optionalCents(floor),
        goingRate: goingCents === null ? null : { cents: goingCents, isOwn: own === 'yes' },
      })
      expect(found.map(({ code }) => code).join(' ') || '-').toBe(warnings)
    },
  )

  test.each(examples('Miles'))('miles from %s to %s', (from, to, crow, road) => {
    const point = (text = '') => {
      const [latitude = 0, longitude = 0] = text.split(' ').map(Number)
      return { latitude, longitude }
    }
    close(greatCircleMiles(point(from), point(to)), crow)
    close(roadMiles(point(from), point(to)), road)
  })
})

const rules = {
  COMPARABLE_TOLERANCE_PERCENT,
  WITHHELD_QUOTES,
  LOSS_CUSHION_PERCENT,
  OUTLIER_RULE,
  BUCKET_DAYS,
  BUCKETS_MAX,
  PAR_PRIOR,
  SCORE_RULE,
  SIGNAL_RULE,
  RATE_WARNING_RULE,
  DEVIATIONS_80,
}

function named(value: object | number, name = ''): [string, number][] {
  if (typeof value === 'number') return [[name, value]]
  return Object.entries(value).flatMap(([key, member]) =>
    named(member as object | number, name === '' ? key : `${name}.${key}`),
  )
}

describe('the thresholds in docs/model.md', () => {
  test('equal those in the code, and none is missing', () => {
    const listed = examples('Thresholds').flatMap(([rule, values = '']) =>
      values.split(', ').map((one) => {
        const [value, name] = one.split(' ').reverse()
        return [name === undefined ? rule : `${rule}.${name}`, Number(value)]
      }),
    )
    expect(listed).toEqual(named(rules))
  })

  test('appear in the table of signals', () => {
    const table = textOf(page)
      .split('\n')
      .filter((line) => /^\| (strength|trend|consistency|timing) \|/.test(line))
    for (const [signal, rule] of Object.entries(SIGNAL_RULE)) {
      const line = table.find((row) => row.startsWith(`| ${signal} |`)) ?? ''
      const numbers = (line.match(/\d+(\.\d+)?/g) ?? []).map(Number)
      for (const value of Object.values(rule)) expect(numbers).toContain(value)
    }
  })
})
