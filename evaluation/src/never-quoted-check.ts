import { dayOf } from '#engine/day.ts'
import { prepareEstimator } from '#engine/estimate/estimator.ts'
import { intervalsAt } from '#engine/estimate/interval.ts'
import { lanePosterior } from '#engine/estimate/lane-posterior.ts'
import { offerPosition, referenceRateCents } from '#engine/estimate/lane-reference.ts'
import { laneWinCurve } from '#engine/estimate/lane-win-curve.ts'
import { winMean } from '#engine/estimate/posterior.ts'
import { curvePosition } from '#engine/estimate/price-response.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { calibrationError } from '#engine/statistics/forecast-quality.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import type { Bar } from './bar.ts'
import { normal } from './simulation.ts'
import { type Grouped, groupCoverage, orderCorrelations } from './walked-tables.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const DAYS = 180
/** Every fifth lane is withheld. */
const PARTS = 5

/** A true chance, and what the estimate says about it. */
interface JudgedOffer {
  readonly isNew: boolean
  readonly p: number
  readonly truth: number
  readonly within80: boolean
}

/**
 * A brokerage whose lanes have levels 12 % around the market, which moves by 0.4 % a day, and rates 8 % around them. Offers at, 8 % below
 * and 8 % above the true level of each lane; a fifth of the lanes was never quoted.
 */
function judgedBrokerage(seed: number, spread: number): JudgedOffer[] {
  const random = seededNumbers(seed)
  const count = 36 + Math.floor(24 * random())
  const walk = [0]
  for (let day = 1; day <= DAYS; day++) walk.push((walk[day - 1] ?? 0) + 0.004 * normal(random))
  const usual = { level: 0.2 + 0.5 * normal(random), steepness: 10 * Math.exp(0.3 * normal(random)) }
  const lanes = Array.from({ length: count }, (_, n) => ({
    identity: {
      key: `lane ${n}`,
      scopes: [
        { name: 'region', key: `region ${n % 3}` },
        { name: 'state_pair', key: `pair ${n % 12}` },
      ],
      costKeys: [],
    } satisfies LaneIdentity,
    logRate: Math.log(200_000) + 0.12 * normal(random),
    level: usual.level + spread * normal(random),
  }))
  const known = Math.floor(count * (1 - 1 / PARTS))
  const chance = (lane: (typeof lanes)[number], x: number) =>
    1 / (1 + Math.exp(usual.steepness * x - lane.level))
  const quotes = Array.from({ length: 260 + Math.floor(940 * random()) }, (_, n): LaneQuote => {
    const lane = lanes[Math.floor(known * random() ** 1.7)] as (typeof lanes)[number]
    const age = 1 + Math.floor(random() * DAYS)
    const x = 0.08 * normal(random)
    return {
      quoteId: n + 1,
      rateCents: Math.round(Math.exp(lane.logRate + (walk[DAYS - age] ?? 0) + x)),
      costCents: null,
      outcome: random() < chance(lane, x) ? 'won' : 'lost',
      quotedAt: NOW - age * DAY,
      miles: null,
      lane: lane.identity,
    }
  })
  const estimator = prepareEstimator({ quotes, now: NOW })
  return lanes.flatMap((lane, n) => {
    const curve = laneWinCurve({ estimator, lane: lane.identity, miles: null, customer: null })
    if (curve === null) return []
    return [-0.08, 0, 0.08].map((step) => {
      const x = curvePosition(curve, Math.exp(lane.logRate + (walk[DAYS] ?? 0) + step))
      const p = winMean(curve.posterior, x)
      const truth = chance(lane, step)
      const { low, high } = intervalsAt(curve.intervals(), { x, mean: p }).interval80
      return { isNew: n >= known, p, truth, within80: low <= truth && truth <= high }
    })
  })
}

function within80(offers: readonly JudgedOffer[]): number {
  return offers.filter(({ within80: isWithin }) => isWithin).length / offers.length
}

/** The calibration error against true chances: the mean distance of chances from the true ones, in ten groups by chance. */
function errorOf(offers: readonly JudgedOffer[]): number {
  const sorted = offers.toSorted((one, other) => one.p - other.p)
  const groups = Map.groupBy(sorted.entries(), ([at]) => Math.floor((10 * at) / sorted.length))
  let sum = 0
  for (const group of groups.values())
    sum += Math.abs(group.reduce((more, [, { p, truth }]) => more + p - truth, 0))
  return sum / sorted.length
}

/** How well the chances and ranges of lanes hold, never quoted and quoted, by how much the win rates of lanes differ (in log odds). */
export function simulatedLaneBars(brokerages: number): Bar[] {
  return [0, 0.4, 0.8].flatMap((spread) => {
    const offers = Array.from({ length: brokerages }, (_, nth) =>
      judgedBrokerage(1_000 * spread + nth + 77, spread),
    ).flat()
    const fresh = offers.filter(({ isNew }) => isNew)
    const check = `simulated lanes, spread ${spread}`
    return [
      { check, measure: 'never quoted, calibration error', value: errorOf(fresh), most: 0.08 },
      { check, measure: 'never quoted, within 80 %', value: within80(fresh), least: 0.75, most: 0.85 },
      {
        check,
        measure: 'quoted, within 80 %',
        value: within80(offers.filter(({ isNew }) => !isNew)),
        least: 0.75,
        most: 0.85,
      },
    ]
  })
}

/** The number of a part of the lanes, always the same for a lane. */
function partOf({ key }: LaneIdentity): number {
  let sum = 7
  for (const letter of key) sum = (sum * 31 + letter.charCodeAt(0)) % 1_000_003
  return sum % PARTS
}

/** Forecasts of quotes on lanes whose own past is withheld, so that they look never quoted: two quotes of a lane, every 24 days. */
function withheldForecasts(quotes: readonly LaneQuote[]): Grouped[] {
  const sorted = quotes.toSorted((one, other) => one.quotedAt - other.quotedAt)
  const first = dayOf(sorted[0]?.quotedAt ?? 0)
  const last = dayOf(sorted.at(-1)?.quotedAt ?? 0)
  const out: Grouped[] = []
  for (let day = first + 60; day <= last; day += 24) {
    for (let part = 0; part < PARTS; part++) {
      const past = sorted.filter((quote) => dayOf(quote.quotedAt) < day && partOf(quote.lane) !== part)
      const tests = sorted.filter(
        ({ quotedAt, outcome, lane }) =>
          dayOf(quotedAt) >= day &&
          dayOf(quotedAt) < day + 3 &&
          outcome !== 'pending' &&
          partOf(lane) === part,
      )
      const model = prepareEstimator({ quotes: past, now: day * DAY })
      for (const ofLane of Map.groupBy(tests, ({ lane }) => lane.key).values()) {
        for (const quote of ofLane.slice(0, 2)) {
          const { lane, rateCents } = quote
          const posterior = lanePosterior(model, lane)
          const referenceCents = referenceRateCents(model, lane, null) ?? rateCents
          const x = offerPosition(model, lane, { rateCents, referenceCents })
          const won = quote.outcome === 'won'
          out.push({ quote, day: dayOf(quote.quotedAt), won, x, posterior, model: winMean(posterior, x) })
        }
      }
    }
  }
  return out
}

/** How well the chances and ranges of lanes hold that look never quoted. */
export function withheldLaneBars(quotes: readonly LaneQuote[]): Bar[] {
  const forecasts = withheldForecasts(quotes)
  const coverage = groupCoverage('', forecasts, {
    keyOf: ({ quote }) => quote.lane.key,
    least: 2,
    correlations: orderCorrelations(forecasts),
  })
  const check = 'copper, lanes whose own past is withheld'
  return [
    {
      check,
      measure: 'calibration error',
      value: calibrationError(forecasts.map(({ model: p, won }) => ({ p, won }))),
      most: 0.08,
    },
    { check, measure: 'share won within 80 %', value: coverage.within80, least: 0.75, most: 0.85 },
  ]
}
