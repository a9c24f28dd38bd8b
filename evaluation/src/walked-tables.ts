import { dayOf } from '#engine/day.ts'
import type { Posterior } from '#engine/estimate/posterior.ts'
import { brake, effectiveRate, sigmoid } from '#engine/estimate/price-response.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import {
  brier,
  calibrationError,
  calibrationSlope,
  type Forecast,
  reliability,
} from '#engine/statistics/forecast-quality.ts'
import { meanOverGroups } from '#engine/statistics/mean-over-groups.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { isotonicForecasts } from './isotonic.ts'
import { normal } from './simulation.ts'
import type { Walked } from './walk.ts'

/** The Brier scores of the model and of plain win rates, for the same quotes. */
export interface WalkedQuality {
  readonly name: string
  readonly tests: number
  readonly model: number
  readonly winRateOfLane: number
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
    winRateOfLane: brierOf(walked, ({ winRateOfLane }) => winRateOfLane),
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

/** A group of tested quotes, with the model's Brier score minus that of the scope's win rate, and the standard error over lanes. */
interface KnownQuality extends WalkedQuality {
  readonly overScope: number
  readonly standardError: number
}

function overScope(walked: readonly Walked[]): Pick<KnownQuality, 'overScope' | 'standardError'> {
  const more = ({ model, scopeRate, won }: Walked) =>
    (model - (won ? 1 : 0)) ** 2 - (scopeRate - (won ? 1 : 0)) ** 2
  const { mean, standardError } = meanOverGroups(
    walked.map((one) => ({ group: one.quote.lane.key, value: more(one) })),
  )
  return { overScope: mean, standardError }
}

/** The scores by the number of known decided quotes of the lane. */
export function byKnownQuotes(name: string, walked: readonly Walked[]): KnownQuality[] {
  return KNOWN.flatMap(([least, most]) => {
    const group = walked.filter(({ known }) => known >= least && known <= most)
    const range = most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`
    return group.length < 20
      ? []
      : [{ ...walkedQuality(`${name}, ${range} known quotes`, group), ...overScope(group) }]
  })
}

/** The Brier score of the best falling function of the rate, fitted to the tested outcomes, as a bound for the model. */
export function isotonicBrier(walked: readonly Walked[]): number {
  return brier(isotonicForecasts(walked.map(({ quote, won }) => ({ x: quote.rateCents, won }))))
}

/** How often the win rate of a group of quotes was within the range that the model gives for it. */
export interface GroupCoverage {
  readonly name: string
  readonly groups: number
  readonly within80: number
  readonly within95: number
  readonly width80: number
}

/** A forecast in a group. */
export interface Grouped extends Pick<Walked, 'quote' | 'day' | 'won' | 'x' | 'posterior' | 'model'> {
  /** The estimated effect of the customer. Its error is the same for all quotes of the customer. */
  readonly customer?: { readonly number: number; readonly level: number; readonly sd: number } | undefined
}

const MONTH_DAYS = 30
export const monthOf = ({ day }: Grouped) => Math.floor(day / MONTH_DAYS)
const scopeOf = ({ quote }: Grouped) => quote.lane.scopes.map(({ key }) => key).join('/')
const orderOf = ({ quote, day, customer }: Grouped) => `${customer?.number ?? quote.lane.key} ${day}`

/** This many pairs of independent quotes are added, because few real pairs prove no correlation. */
const INDEPENDENT_PAIRS = 10

/**
 * Returns, by day, the correlation of the outcomes of a lane (or customer) on one day, measured on all earlier days. Above 0, quotes
 * of one order are won or lost together; at 0, independently.
 */
export function orderCorrelations(walked: readonly Grouped[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  let [products, sizes] = [0, INDEPENDENT_PAIRS * 0.2]
  for (const [day, ofDay] of Map.groupBy(walked, (one) => one.day)) {
    found.set(day, Math.min(1, Math.max(0, products / sizes)))
    for (const order of Map.groupBy(ofDay, orderOf).values()) {
      let [surprise, surprises, deviation, deviations] = [0, 0, 0, 0]
      for (const { model, won } of order) {
        const error = (won ? 1 : 0) - model
        const sd = Math.sqrt(model * (1 - model))
        surprise += error
        surprises += error * error
        deviation += sd
        deviations += sd * sd
      }
      products += surprise * surprise - surprises
      sizes += deviation * deviation - deviations
    }
  }
  return found
}

/** How often two decided quotes have the same outcome, on one lane and day and in general. */
export function sameOutcomes(name: string, quotes: readonly LaneQuote[]) {
  const decided = quotes.filter(({ outcome }) => outcome !== 'pending')
  const share = (keyOf: (quote: LaneQuote) => string) => {
    let [same, pairs] = [0, 0]
    for (const of of Map.groupBy(decided, keyOf).values()) {
      const won = of.filter(({ outcome }) => outcome === 'won').length
      const lost = of.length - won
      same += won * (won - 1) + lost * (lost - 1)
      pairs += of.length * (of.length - 1)
    }
    return same / pairs
  }
  return {
    name,
    onLaneAndDay: share(({ lane, quotedAt }) => `${lane.key} ${dayOf(quotedAt)}`),
    onLane: share(({ lane }) => lane.key),
    inGeneral: share(() => ''),
  }
}

const DRAWS = 300

/** Numbers the different keys from 0. */
function placesOf(keys: readonly string[]): { readonly places: Int32Array; readonly count: number } {
  const known = new Map<string, number>()
  const places = Int32Array.from(keys, (key) => {
    const place = known.get(key) ?? known.size
    known.set(key, place)
    return place
  })
  return { places, count: known.size }
}

/** The running sums of the weights of each posterior. */
const sums = new WeakMap<Posterior, Float64Array>()

/** The mean log odds of a posterior's curves at a rate, without the brake. */
function middleOf({ levels, steepness, weights }: Posterior, rate: number): number {
  return weights.reduce(
    (sum, weight, c) => sum + weight * ((levels[c] as number) - (steepness[c] as number) * rate),
    0,
  )
}

/** Draws a win curve of a posterior by its weight. `place` is random, from 0 to 1. */
function curveAt(posterior: Posterior, place: number): number {
  let cumulated = sums.get(posterior)
  if (cumulated === undefined) {
    let sum = 0
    cumulated = posterior.weights.map((weight) => (sum += weight))
    sums.set(posterior, cumulated)
  }
  let [low, high] = [0, cumulated.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cumulated[middle] as number) < place) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns possible win rates of a group by the model. Each is drawn in steps: a win curve for each lane, a noise for each scope (or
 * customer) and month, the error of each customer's effect, then the outcomes. Correlated outcomes share one random number.
 */
function drawnShares(
  group: readonly Grouped[],
  correlations: ReadonlyMap<number, number>,
  random: () => number,
): number[] {
  const swingerOf = (one: Grouped) => (one.customer ? `${one.customer.number}` : scopeOf(one))
  const lanes = placesOf(group.map(({ quote }) => quote.lane.key))
  const swingers = placesOf(group.map(swingerOf))
  const months = placesOf(group.map((one) => `${swingerOf(one)} ${monthOf(one)}`))
  const orders = placesOf(group.map(orderOf))
  const correlation = new Float64Array(orders.count)
  for (const [at, { day }] of group.entries())
    correlation[orders.places[at] as number] = correlations.get(day) ?? 0
  const fixed = group.map(({ x, posterior }) => {
    const rate = effectiveRate(x, posterior.shape)
    return { rate, moved: (1 - posterior.reach) * middleOf(posterior, rate) - brake(x) }
  })
  const shares: number[] = []
  for (let draw = 0; draw < DRAWS; draw++) {
    const ofLane = Float64Array.from({ length: lanes.count }, random)
    const ofSwinger = Float64Array.from({ length: swingers.count }, () => normal(random))
    const ofMonth = Float64Array.from({ length: months.count }, () => normal(random))
    const ofOrder = correlation.map((of) => (random() < of ? random() : Number.NaN))
    let won = 0
    for (const [at, { posterior, customer }] of group.entries()) {
      const curve = curveAt(posterior, ofLane[lanes.places[at] as number] as number)
      const { rate = 0, moved = 0 } = fixed[at] ?? {}
      const logOdds =
        moved +
        posterior.reach *
          ((posterior.levels[curve] as number) - (posterior.steepness[curve] as number) * rate) +
        (customer ? customer.level + customer.sd * (ofSwinger[swingers.places[at] as number] as number) : 0) +
        posterior.noise * (ofMonth[months.places[at] as number] as number)
      const common = ofOrder[orders.places[at] as number] as number
      if ((Number.isNaN(common) ? random() : common) < posterior.shape.ceiling * sigmoid(logOdds)) won++
    }
    shares.push(won / group.length)
  }
  return shares.sort((one, other) => one - other)
}

/**
 * How much of the observed win rate is within a range of quantiles, from 0 to 1: a small group has so few possible win rates that the
 * range can end within one.
 */
function partWithin(shares: readonly number[], came: number, [low, high]: readonly [number, number]): number {
  const below = shares.filter((share) => share < came - 1e-9).length / shares.length
  const upTo = shares.filter((share) => share <= came + 1e-9).length / shares.length
  if (upTo === below) return below >= low && below <= high ? 1 : 0
  return Math.max(0, Math.min(upTo, high) - Math.max(below, low)) / (upTo - below)
}

/** How often win rates are within their ranges, for groups of at least `least` quotes. */
export function groupCoverage(
  name: string,
  walked: readonly Grouped[],
  {
    keyOf,
    least,
    correlations,
  }: {
    readonly keyOf: (one: Grouped) => string
    readonly least: number
    /** By day; see `orderCorrelations`. */
    readonly correlations: ReadonlyMap<number, number>
  },
): GroupCoverage {
  const groups = Map.groupBy(walked, keyOf)
  const random = seededNumbers(1)
  const sums = { groups: 0, within80: 0, within95: 0, width80: 0 }
  for (const group of groups.values()) {
    if (group.length < least) continue
    const shares = drawnShares(group, correlations, random)
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

/** `groupCoverage` for several groupings, with the quotes of a lane and day first as independent, then as correlated orders. */
export function groupCoverages(name: string, walked: readonly Walked[]): GroupCoverage[] {
  const correlations = orderCorrelations(walked)
  const lane = ({ quote }: Grouped) => quote.lane.key
  const byMonth = (keyOf: (one: Grouped) => string) => (one: Grouped) => `${keyOf(one)} ${monthOf(one)}`
  const neverQuoted = walked.filter(({ known }) => known === 0)
  return [
    { group: 'lanes', of: walked, keyOf: lane, least: 5 },
    { group: 'lanes by month', of: walked, keyOf: byMonth(lane), least: 5 },
    { group: 'lanes never quoted', of: neverQuoted, keyOf: lane, least: 1 },
    { group: 'scopes by month', of: walked, keyOf: byMonth(scopeOf), least: 5 },
    { group: 'months', of: walked, keyOf: byMonth(() => ''), least: 5 },
  ].flatMap(({ group, of, keyOf, least }) => [
    groupCoverage(`${name}, ${group}`, of, { keyOf, least, correlations: new Map() }),
    groupCoverage(`${name}, ${group}, by orders`, of, { keyOf, least, correlations }),
  ])
}

/** Whether the calendar would improve forecasts: the Brier scores without and with a correction by earlier errors on the same days. */
export interface CalendarTerm {
  readonly name: string
  readonly without: number
  readonly with: number
}

/** A correction of 0 counts as much as this information (the sum of p (1 - p)). */
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

/** Days around holidays of the United States with fixed dates. */
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

/** The mean forecast and the actual win rate, by how far rates are from the going rate. */
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
