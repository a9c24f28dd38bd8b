import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { docTable } from '../../testing/doc-table.ts'
import { noErrors } from './cost-errors.ts'
import { chainResidual } from './cost-scopes.ts'
import { bankLogLikelihood } from './curve-bank.ts'
import { type CostSeen, expectedCost, prepareCosts } from './expected-cost.ts'
import { winQuantiles } from './interval.ts'
import { addQuote, emptyKnots } from './knots.ts'
import { DEFAULT_HAUL_CURVE, haulLogDollars } from './length-of-haul.ts'
import { marginAtRisk } from './margin-at-risk.ts'
import { bestRate } from './optimum.ts'
import { posteriorOf, winMean } from './posterior.ts'
import { FULL_WEIGHT } from './price-response.ts'
import { priorOf } from './prior.ts'
import { addDay, emptyMarket } from './reference-rate.ts'
import { LANE_KINSHIP, messageDown, messageUp, rootBelief, SCOPE_KINSHIP } from './tree.ts'
import { TRUST_RULE, trustOf } from './trust.ts'
import { addInto, difference } from './vector.ts'

const page = ['model-estimate', 'estimate-formulas']
  .map((name) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8'))
  .join('\n')

const tableOf = (name: string) => docTable(page, name)

/** Formats a computed number with as many digits as the number on the page. */
function asPrinted(value: number, printed: string): string {
  return value.toFixed(printed.split('.')[1]?.length ?? 0)
}

function knotsOf(quotes: readonly (readonly [number, boolean])[]) {
  const knots = emptyKnots()
  for (const [x, won] of quotes) addQuote(knots, { x, won, weight: 1 })
  return knots
}

const WON = [1800, 1850, 1900, 1950, 2050]
const LOST = [2000, 2100, 2150, 2200, 2250]
// The example has a noise of 0.25.
const example = {
  ...posteriorOf(knotsOf([...WON, ...LOST].map((rate) => [Math.log(rate / 2025), WON.includes(rate)])), {
    a: 0.5,
    b: Math.log(8),
    varianceA: 2.25,
    covariance: 0,
    varianceB: 1,
  }),
  noise: 0.25,
}

test('the reference rate', () => {
  const market = emptyMarket()
  const rows = tableOf('reference').slice(1)
  expect(rows.length).toBe(3)
  for (const [day = '', quotes = '', reference = '', ...after] of rows) {
    const seen = quotes.split(' ').map((rate) => ({ lane: 'lane', logRate: Math.log(Number(rate)) }))
    for (const log of addDay(market, Number(day), seen))
      expect(asPrinted(Math.exp(log), reference)).toBe(reference)
    const level = market.levels.get('lane')
    const found = [market.index, level?.mean ?? 0, level?.weight ?? 0]
    expect(found.map((value, i) => asPrinted(value, after[i] ?? ''))).toEqual(after)
  }
})

test('the tree', () => {
  const lane1 = [-0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.08, 0.12].map((x): [number, boolean] => [
    x,
    x < 0.01 || x === 0.05,
  ])
  const lane2: [number, boolean][] = [
    [-0.05, true],
    [0, true],
    [0.05, false],
  ]
  const lane3 = [-0.08, -0.04, 0, 0.03, 0.06, 0.1].map((x): [number, boolean] => [x, x === -0.08])
  const up = (quotes: [number, boolean][]) => messageUp(bankLogLikelihood(knotsOf(quotes)), LANE_KINSHIP)
  const own = up(lane2)
  const pair = up(lane1)
  addInto(pair, own)
  const pairUp = messageUp(pair, SCOPE_KINSHIP)
  const tenant = rootBelief()
  addInto(tenant, pairUp)
  addInto(tenant, messageUp(up(lane3), SCOPE_KINSHIP))
  const believed = messageDown(difference(tenant, pairUp), SCOPE_KINSHIP)
  addInto(believed, pair)
  const prior2 = priorOf(messageDown(difference(believed, own), LANE_KINSHIP))
  const posteriors = [
    posteriorOf(knotsOf(lane2), prior2),
    posteriorOf(emptyKnots(), priorOf(messageDown(believed, LANE_KINSHIP))),
    posteriorOf(emptyKnots(), priorOf(messageDown(messageDown(tenant, SCOPE_KINSHIP), LANE_KINSHIP))),
  ]
  const [head = [], ...rows] = tableOf('tree')
  expect(rows.length).toBe(3)
  for (const [i, [, ...printed]] of rows.entries()) {
    const posterior = posteriors[i]
    if (!posterior) throw new Error('a row more than lanes')
    const found = head.slice(1).map((x, c) => asPrinted(winMean(posterior, Number(x)), printed[c] ?? ''))
    expect(found).toEqual(printed)
  }
  const share = 1 - (posteriors[0]?.belief.varianceA ?? 0) / prior2.varianceA
  expect(page).toContain(`own share is ${share.toFixed(6)}`)
})

test('the posterior and its quantiles', () => {
  const rows = tableOf('posterior').slice(1)
  expect(rows.length).toBe(7)
  for (const [rate, ...printed] of rows) {
    const x = Math.log(Number(rate) / 2025)
    const found = [winMean(example, x), ...winQuantiles(example, x, [0.025, 0.1, 0.9, 0.975])]
    expect(found.map((value, i) => asPrinted(value, printed[i] ?? ''))).toEqual(printed)
  }
  expect(page).toContain(`a = ${example.mode.a.toFixed(6)}, b = ${example.mode.b.toFixed(6)}`)
})

test('the optimum', () => {
  const [[cost, ...printed] = []] = tableOf('optimum').slice(1)
  const best = bestRate({
    posterior: example,
    referenceCents: 202_500,
    priceWeight: FULL_WEIGHT,
    costCents: Number(cost) * 100,
    floorCents: null,
  })
  const found = [
    best.rateCents / 100,
    best.expectedMarginCents / 100,
    best.winProbability,
    best.flatZone.lowCents / 100,
    best.flatZone.highCents / 100,
  ]
  expect(found.map((value, i) => asPrinted(value, printed[i] ?? ''))).toEqual(printed)
})

test('trust', () => {
  const rows = tableOf('trust').slice(1)
  expect(rows.length).toBe(7)
  for (const [low, high, borrowed, days = '', nearby, trust] of rows) {
    const found = trustOf({
      interval80: { low: Number(low), high: Number(high) },
      borrowedShare: Number(borrowed),
      newestDays: days === '-' ? null : Number(days),
      nearby: Number(nearby),
    })
    expect(found).toBe(trust)
  }
  const { good, fair } = TRUST_RULE
  expect(page).toContain(
    `the interval is at most ${good.widthMax} wide, at most ${good.borrowedMax} is borrowed, and the newest quote is at most ${good.daysMax} days old`,
  )
  expect(page).toContain(
    `fair: the interval is at most ${fair.widthMax} wide, and at least ${fair.nearbyMin} decided quotes are near by`,
  )
})

test('the length-of-haul curve and the residual chain', () => {
  const [miles = [], dollars = []] = tableOf('haul')
  expect(miles.length).toBe(7)
  for (const [i, printed] of dollars.entries()) {
    if (i === 0) continue
    expect(asPrinted(Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, Number(miles[i]))), printed)).toBe(printed)
  }
  const rows = tableOf('chain').slice(1)
  const levels = rows.map(([, , weight = '', mean = '']) =>
    weight === '-' ? null : { weight: Number(weight), mean: Number(mean) },
  )
  for (const [i, row] of rows.entries()) {
    const printed = row[4] ?? ''
    expect(asPrinted(chainResidual(levels.slice(0, i + 1)), printed)).toBe(printed)
  }
  const cost = Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, 500) + chainResidual(levels))
  expect(page).toContain(`At 500 miles that is $${cost.toFixed(2)}`)
})

test('the market index of costs', () => {
  const keysOf = (lane: number) => ['region', 'from', 'to', 'states', `corridor ${lane}`, `lane ${lane}`]
  const rows = tableOf('cost-index').slice(1)
  expect(rows.length).toBe(3)
  const loads: CostSeen[] = []
  for (const [day = '', costs = '', ...printed] of rows) {
    const at = Number(day) * 86_400_000
    for (const cost of costs.split(' '))
      loads.push({
        quoteId: loads.length,
        costCents: 100 * Number(cost),
        miles: 500,
        at,
        costKeys: keysOf(1),
      })
    const model = prepareCosts(loads, at)
    const dollarsOn = (lane: number) =>
      (expectedCost(model, { costKeys: keysOf(lane), miles: 500 })?.costCents ?? 0) / 100
    const found = [model.index.mornings.at(-1) ?? 0, model.index.now, dollarsOn(1), dollarsOn(2)]
    expect(found.map((value, i) => asPrinted(value, printed[i] ?? ''))).toEqual(printed)
  }
})

test('margin at risk', () => {
  const rows = tableOf('risk').slice(1)
  expect(rows.length).toBe(3)
  const spread = { counts: noErrors(), usual: 0.24 }
  for (const [rate = '', chance = '', safe = ''] of rows) {
    const risk = marginAtRisk({ costCents: 170_000, spread }, 100 * Number(rate))
    expect([asPrinted(risk.lossChance, chance), asPrinted(risk.safeRateCents / 100, safe)]).toEqual([
      chance,
      safe,
    ])
  }
})
