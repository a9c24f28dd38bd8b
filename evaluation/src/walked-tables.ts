import {
  brier,
  calibrationError,
  calibrationSlope,
  type Forecast,
  reliability,
} from '#engine/backtest/measures.ts'
import { brake, effectiveRate, sigmoid } from '#engine/estimate/price-response.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { isotonicForecasts } from './isotonic.ts'
import { normal } from './simulation.ts'
import type { Walked } from './walk.ts'

/** The Brier scores of the model and of the plain rates, for the same quotes. */
export interface WalkedQuality {
  readonly name: string
  readonly tests: number
  readonly model: number
  readonly laneRate: number
  readonly scopeRate: number
  readonly calibrationError: number
  readonly slope: number
}

function brierOf(walked: readonly Walked[], of: (one: Walked) => number): number {
  return brier(walked.map((one) => ({ p: of(one), won: one.won })))
}

function modelForecasts(walked: readonly Walked[]): Forecast[] {
  return walked.map(({ model: p, won }) => ({ p, won }))
}

export function walkedQuality(name: string, walked: readonly Walked[]): WalkedQuality {
  const forecasts = modelForecasts(walked)
  return {
    name,
    tests: walked.length,
    model: brier(forecasts),
    laneRate: brierOf(walked, ({ laneRate }) => laneRate),
    scopeRate: brierOf(walked, ({ scopeRate }) => scopeRate),
    calibrationError: calibrationError(forecasts),
    slope: calibrationSlope(forecasts),
  }
}

const KNOWN = [
  [0, 0],
  [1, 3],
  [4, 10],
  [11, 30],
  [31, Number.POSITIVE_INFINITY],
] as const

/** By the number of the lane's decided quotes that were known. */
export function byKnownQuotes(name: string, walked: readonly Walked[]): WalkedQuality[] {
  return KNOWN.flatMap(([least, most]) => {
    const group = walked.filter(({ known }) => known >= least && known <= most)
    const range = most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`
    return group.length < 20 ? [] : [walkedQuality(`${name}, ${range} known quotes`, group)]
  })
}

/** The Brier score of the best falling function of the rate, fitted to the same outcomes, beside the model's. */
export function isotonicBrier(walked: readonly Walked[]): number {
  return brier(isotonicForecasts(walked.map(({ quote, won }) => ({ x: quote.rateCents, won }))))
}

/** How often the share won of a group of quotes was within the range that the model gives for it. */
export interface GroupCoverage {
  readonly name: string
  readonly groups: number
  readonly within80: number
  readonly within95: number
  readonly width80: number
}

const DRAWS = 300

/** The shares won of a group, drawn from the model: a curve and a noise for each lane, and then each outcome. */
function drawnShares(group: readonly Walked[], random: () => number): number[] {
  const shares: number[] = []
  for (let draw = 0; draw < DRAWS; draw++) {
    const lanes = new Map<string, { place: number; noise: number }>()
    let won = 0
    for (const { quote, posterior, x } of group) {
      const lane = lanes.get(quote.lane.key) ?? { place: random(), noise: normal(random) }
      lanes.set(quote.lane.key, lane)
      let curve = 0
      for (let sum = posterior.weights[0] ?? 0; sum < lane.place && curve < posterior.weights.length - 1; ) {
        curve++
        sum += posterior.weights[curve] ?? 0
      }
      const logOdds =
        (posterior.levels[curve] ?? 0) -
        (posterior.steepness[curve] ?? 0) * effectiveRate(x, posterior.shape) -
        brake(x) +
        posterior.noise * lane.noise
      if (random() < posterior.shape.ceiling * sigmoid(logOdds)) won++
    }
    shares.push(won / group.length)
  }
  return shares.sort((one, other) => one - other)
}

/** The part of [low, high] in which the observed share lies: shares are few numbers, so an end can cut through one. */
function partWithin(shares: readonly number[], came: number, [low, high]: readonly [number, number]): number {
  const below = shares.filter((share) => share < came - 1e-9).length / shares.length
  const upTo = shares.filter((share) => share <= came + 1e-9).length / shares.length
  if (upTo === below) return below >= low && below <= high ? 1 : 0
  return Math.max(0, Math.min(upTo, high) - Math.max(below, low)) / (upTo - below)
}

/** Coverage of the ranges for groups of at least `least` quotes. */
export function groupCoverage(
  name: string,
  walked: readonly Walked[],
  { keyOf, least }: { readonly keyOf: (one: Walked) => string; readonly least: number },
): GroupCoverage {
  const groups = new Map<string, Walked[]>()
  for (const one of walked) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  const random = seededNumbers(1)
  const sums = { groups: 0, within80: 0, within95: 0, width80: 0 }
  for (const group of groups.values()) {
    if (group.length < least) continue
    const shares = drawnShares(group, random)
    const came = group.filter(({ won }) => won).length / group.length
    sums.groups++
    sums.within80 += partWithin(shares, came, [0.1, 0.9])
    sums.within95 += partWithin(shares, came, [0.025, 0.975])
    sums.width80 += (shares[Math.floor(0.9 * DRAWS)] ?? 1) - (shares[Math.floor(0.1 * DRAWS)] ?? 0)
  }
  return {
    name,
    groups: sums.groups,
    within80: sums.within80 / sums.groups,
    within95: sums.within95 / sums.groups,
    width80: sums.width80 / sums.groups,
  }
}

const MONTH_DAYS = 30

export function groupCoverages(name: string, walked: readonly Walked[]): GroupCoverage[] {
  const month = ({ day }: Walked) => Math.floor(day / MONTH_DAYS)
  const scope = ({ quote }: Walked) => quote.lane.scopes.map(({ key }) => key).join('/')
  const cover = (group: string, of: readonly Walked[], keyOf: (one: Walked) => string, least: number) =>
    groupCoverage(`${name}, ${group}`, of, { keyOf, least })
  return [
    cover('lanes', walked, ({ quote }) => quote.lane.key, 5),
    cover('lanes by month', walked, (one) => `${one.quote.lane.key} ${month(one)}`, 5),
    cover('scopes by month', walked, (one) => `${scope(one)} ${month(one)}`, 5),
    cover('months', walked, (one) => `${month(one)}`, 5),
    cover(
      'lanes never quoted',
      walked.filter(({ known }) => known === 0),
      ({ quote }) => quote.lane.key,
      1,
    ),
  ]
}

/** What a calendar term would add: the Brier score with and without the earlier surprises of the same group. */
export interface CalendarTerm {
  readonly name: string
  readonly without: number
  readonly with: number
}

/** Surprises that are assumed to say that the group is like the others. */
const LIKE_THE_OTHERS = 30

function withTerm(walked: readonly Walked[], groupOf: (date: Date) => number): number {
  const groups = new Map<number, { surprise: number; information: number }>()
  let error = 0
  let waiting: Walked[] = []
  const learn = () => {
    for (const { quote, model, won } of waiting) {
      const key = groupOf(new Date(quote.quotedAt))
      const group = groups.get(key) ?? { surprise: 0, information: 0 }
      group.surprise += (won ? 1 : 0) - model
      group.information += model * (1 - model)
      groups.set(key, group)
    }
    waiting = []
  }
  for (const one of walked) {
    if (waiting[0] && waiting[0].day !== one.day) learn()
    const group = groups.get(groupOf(new Date(one.quote.quotedAt)))
    const shift = group ? group.surprise / (group.information + LIKE_THE_OTHERS) : 0
    const p = Math.min(Math.max(one.model, 1e-6), 1 - 1e-6)
    error += (sigmoid(Math.log(p / (1 - p)) + shift) - (one.won ? 1 : 0)) ** 2
    waiting.push(one)
  }
  return error / walked.length
}

/** Days around the holidays of the United States on fixed dates. */
const HOLIDAYS = ['12-24', '12-25', '12-26', '12-31', '01-01', '07-03', '07-04', '07-05', '11-11']

export function calendarTerms(name: string, walked: readonly Walked[]): CalendarTerm[] {
  const without = brierOf(walked, ({ model }) => model)
  const daysLeft = (date: Date) =>
    new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() - date.getUTCDate()
  return [
    { term: 'weekday', groupOf: (date: Date) => date.getUTCDay() },
    { term: 'last three days of a month', groupOf: (date: Date) => (daysLeft(date) < 3 ? 1 : 0) },
    { term: 'third of the month', groupOf: (date: Date) => Math.floor((date.getUTCDate() - 1) / 10.4) },
    {
      term: 'holidays',
      groupOf: (date: Date) => (HOLIDAYS.includes(date.toISOString().slice(5, 10)) ? 1 : 0),
    },
  ].map(({ term, groupOf }) => ({ name: `${name}, ${term}`, without, with: withTerm(walked, groupOf) }))
}

/** The reliability of the model at rates around the going rate. */
export function byRate(
  walked: readonly Walked[],
): { x: string; tests: number; forecast: number; came: number }[] {
  return [
    [-0.4, -0.2],
    [-0.15, -0.05],
    [-0.02, 0.02],
    [0.05, 0.15],
    [0.2, 0.4],
  ].flatMap(([least = 0, most = 0]) => {
    const group = walked.filter(({ x }) => x >= least && x < most)
    const [row] = reliability(modelForecasts(group), 1)
    return row ? [{ x: `${least} to ${most}`, tests: row.count, forecast: row.forecast, came: row.came }] : []
  })
}
