import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { docTable } from '../../testing/doc-table.ts'
import { addQuote, emptyKnots } from '../estimate/knots.ts'
import { bestRate, expectedMarginCents } from '../estimate/optimum.ts'
import { posteriorOf } from '../estimate/posterior.ts'
import { FULL_WEIGHT } from '../estimate/price-response.ts'
import { quality } from '../statistics/forecast-quality.ts'
import { DECIDED_MIN, OUTCOME_DELAY_DAYS, TESTED_DAYS, TESTED_MIN, WARM_UP_DAYS } from './backtest.ts'
import { DOLLAR_LANES_MIN, DOLLAR_QUOTES_MIN, rangeOfSum } from './dollars.ts'

const page = readFileSync(new URL('../../../docs/backtest.md', import.meta.url), 'utf8')
const words = page.replaceAll(/\s+/g, ' ')

const tableOf = (name: string) => docTable(page, name)

const short = (value: number, digits: number) => value.toFixed(digits).replace(/^0\./, '.')

test('the measures of four forecasts', () => {
  const [forecasts = [], outcomes = []] = tableOf('measures')
  const found = quality(forecasts.slice(1).map((p, i) => ({ p: Number(p), won: outcomes[i + 1] === 'won' })))
  expect(found.count).toBe(4)
  expect(words).toContain(`AUC is ${short(found.auc, 4)} `)
  expect(words).toContain(
    `Brier ${short(found.brier, 4)}, log loss ${short(found.logLoss, 4)}, calibration error ${short(found.calibrationError, 4)}.`,
  )
})

test('a quote in dollars', () => {
  const knots = emptyKnots()
  for (const rate of [1800, 1850, 1900, 1950, 2000, 2050, 2100, 2150, 2200, 2250]) {
    const won = rate <= 1950 || rate === 2050
    addQuote(knots, { x: Math.log(rate / 2025), won, weight: 1 })
  }
  const prior = { a: 0.5, b: Math.log(8), varianceA: 2.25, covariance: 0, varianceB: 1 }
  const curve = { posterior: posteriorOf(knots, prior), referenceCents: 202_500, priceWeight: FULL_WEIGHT }
  const best = bestRate({ ...curve, costCents: 170_000, floorCents: null })
  const rows = tableOf('dollars').slice(1)
  expect(rows.length).toBe(2)
  for (const [cost = '', q = '', ...printed] of rows) {
    const lane = { ...curve, costCents: 100 * Number(cost) }
    const quoted = expectedMarginCents(lane, 100 * Number(q)) / 100
    const atBest = expectedMarginCents(lane, best.rateCents) / 100
    expect([
      short(quoted / (Number(q) - Number(cost)), 6),
      quoted.toFixed(2),
      (best.rateCents / 100).toFixed(2),
      short(best.winProbability, 6),
      atBest.toFixed(2),
      (atBest - quoted).toFixed(2),
    ]).toEqual(printed)
  }
})

test('the bootstrap range over lanes', () => {
  const rows = tableOf('range').slice(1)
  expect(rows.length).toBe(1)
  for (const [lanes = '', difference, low, high] of rows) {
    const gains = lanes.split(' ').map(Number)
    const range = rangeOfSum(gains)
    const sum = gains.reduce((total, gain) => total + gain, 0)
    expect([sum, range.lowCents, range.highCents].map(String)).toEqual([difference, low, high])
  }
})

test('the thresholds on the page match the code', () => {
  expect([OUTCOME_DELAY_DAYS, WARM_UP_DAYS]).toEqual([1, 30])
  expect(words).toContain(`The decided quotes of the last ${TESTED_DAYS} days`)
  expect(words).toContain(
    `Fewer than ${DECIDED_MIN} decided quotes, or fewer than ${TESTED_MIN} tested ones, are too few`,
  )
  expect(words).toContain(
    `Fewer than ${DOLLAR_QUOTES_MIN} priced quotes or fewer than ${DOLLAR_LANES_MIN} lanes`,
  )
})
