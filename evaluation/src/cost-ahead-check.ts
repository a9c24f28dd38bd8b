import { dayOf } from '#engine/day.ts'
import { chainResidual } from '#engine/estimate/cost-scopes.ts'
import { type CostSeen, costsAhead, expectedCost, prepareCosts } from '#engine/estimate/expected-cost.ts'
import { type HaulCurve, haulLogDollars } from '#engine/estimate/length-of-haul.ts'
import { pairedDifference } from './paired-error.ts'

const DAY = 86_400_000
const WARM_UP_DAYS = 30
const AHEAD = [7, 14, 28]
const HALF_LIFE_DAYS = 45

/** The errors of the forecasts of one load's cost, made `days` before it: ln(actual cost / forecast). */
export interface AheadForecast {
  readonly quoteId: number
  readonly at: number
  readonly days: number
  readonly ownLoads: number
  readonly error: number
  /** The error of the expected cost of the day of the forecast. */
  readonly carried: number
  /** The error of the expected cost of the chain of scopes alone: without the market index and without the newest loads. */
  readonly chain: number
  /** The error of the newest cost on the lane, its state pair or any lane, adjusted to the miles. */
  readonly last: number
  readonly within80: boolean
  /** The width of the 80 % range in ln cost. */
  readonly width80: number
  /** The interval score of the range: see `intervalScore`. */
  readonly score80: number
  readonly seasonal: boolean
}

/**
 * The interval score of an 80 % range of costs (Winkler): its width, plus 10 times the distance of the actual cost from it. Lower is
 * better, so a wider range pays only if it contains more of the costs.
 *
 * @example intervalScore({ low: -0.1, high: 0.2 }, 0.25) // .3 + 10 x .05 = .8
 */
export function intervalScore(
  { low, high }: { readonly low: number; readonly high: number },
  actual: number,
): number {
  return high - low + 10 * Math.max(0, low - actual, actual - high)
}

/** Returns a function that finds the newest past load of a load's lane, else of its state pair, else of all. */
function newestLoads(past: readonly CostSeen[]): (load: CostSeen) => CostSeen | undefined {
  const newest = new Map<string, CostSeen>()
  for (const load of past) for (const key of load.costKeys) newest.set(key, load)
  return ({ costKeys }) => newest.get(costKeys[5] ?? '') ?? newest.get(costKeys[3] ?? '') ?? past.at(-1)
}

/** Forecasts ln cost from the scopes of a load alone, computed again from the definitions in docs/estimate-formulas.md. */
function chainAlone(past: readonly CostSeen[], curve: HaulCurve, day: number): (load: CostSeen) => number {
  const sums = new Map<string, { weight: number; sum: number }>()
  for (const load of past) {
    const residual = Math.log(load.costCents / 100) - haulLogDollars(curve, load.miles)
    const weight = 2 ** (-(day - dayOf(load.at)) / HALF_LIFE_DAYS)
    for (const key of ['', ...load.costKeys]) {
      const scope = sums.get(key) ?? { weight: 0, sum: 0 }
      scope.weight += weight
      scope.sum += weight * Math.max(-0.8, Math.min(0.8, residual))
      sums.set(key, scope)
    }
  }
  return ({ costKeys, miles }) =>
    haulLogDollars(curve, miles) +
    chainResidual(
      ['', ...costKeys].map((key) => {
        const scope = sums.get(key)
        return scope ? { weight: scope.weight, mean: scope.sum / scope.weight } : null
      }),
    )
}

/**
 * Forecasts each load 7, 14 and 28 days ahead, from day 30 on, by the model and by the baselines, and only from loads that
 * were known on the day of the forecast.
 */
export function forecastAhead(loads: readonly CostSeen[], onDay?: (day: number) => void): AheadForecast[] {
  const days = new Map<number, CostSeen[]>()
  for (const load of loads) days.set(dayOf(load.at), [...(days.get(dayOf(load.at)) ?? []), load])
  const first = Math.min(...days.keys())
  const last = Math.max(...days.keys())
  const past: CostSeen[] = []
  const out: AheadForecast[] = []
  for (let day = first; day <= last; day++) {
    onDay?.(day - first)
    past.push(...(days.get(day) ?? []))
    const targets = AHEAD.filter((ahead) => days.has(day + ahead))
    if (day - first < WARM_UP_DAYS || targets.length === 0) continue
    const model = prepareCosts(past, day * DAY)
    const byChain = chainAlone(past, model.curve, day)
    const newest = newestLoads(past)
    for (const ahead of targets) {
      for (const load of days.get(day + ahead) ?? []) {
        const today = expectedCost(model, load)
        const then = costsAhead(model, load).find(({ days: of }) => of === ahead)
        const before = newest(load)
        if (!today || !then || !before) continue
        const against = (cents: number) => Math.log(load.costCents / cents)
        const range = { low: Math.log(then.lowCents), high: Math.log(then.highCents) }
        out.push({
          quoteId: load.quoteId,
          at: load.at,
          days: ahead,
          ownLoads: today.ownLoads,
          error: against(then.costCents),
          carried: against(today.costCents),
          chain: against(100 * Math.exp(byChain(load))),
          last: against((before.costCents * load.miles) / before.miles),
          within80: load.costCents >= then.lowCents && load.costCents <= then.highCents,
          width80: range.high - range.low,
          score80: intervalScore(range, Math.log(load.costCents)),
          seasonal: then.season !== null,
        })
      }
    }
  }
  return out
}

/** Mean absolute errors in ln cost of the forecasts over a number of days, and the coverage of their 80 % ranges. */
export interface AheadQuality {
  readonly days: number
  readonly count: number
  readonly model: number
  readonly carried: number
  readonly chain: number
  readonly last: number
  /** The model's error minus the error of `carried`, and of `last`, with standard errors. Below 0, the model is better. */
  readonly minusCarried: number
  readonly carriedSe: number
  readonly minusLast: number
  readonly lastSe: number
  readonly within80: number
  /** The mean width of the ranges, and their mean interval score. */
  readonly width80: number
  readonly score80: number
  /** The share of forecasts with a season. */
  readonly seasonal: number
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The week in which a forecast was made. */
function weekOf({ at, days }: AheadForecast): number {
  return Math.floor((dayOf(at) - days) / 7)
}

export function aheadQuality(forecasts: readonly AheadForecast[]): AheadQuality[] {
  return AHEAD.map((days) => {
    const of = forecasts.filter((forecast) => forecast.days === days)
    const error = (which: 'error' | 'carried' | 'chain' | 'last') =>
      mean(of.map((forecast) => Math.abs(forecast[which])))
    const against = (reference: 'carried' | 'last') =>
      pairedDifference(
        of.map((one) => ({ week: weekOf(one), error: one.error, reference: one[reference] })),
        days / 7,
      )
    const [carried, last] = [against('carried'), against('last')]
    return {
      days,
      count: of.length,
      model: error('error'),
      carried: error('carried'),
      chain: error('chain'),
      last: error('last'),
      minusCarried: carried.difference,
      carriedSe: carried.standardError,
      minusLast: last.difference,
      lastSe: last.standardError,
      within80: mean(of.map(({ within80 }) => Number(within80))),
      width80: mean(of.map(({ width80 }) => width80)),
      score80: mean(of.map(({ score80 }) => score80)),
      seasonal: mean(of.map(({ seasonal }) => Number(seasonal))),
    }
  })
}

/** The share of costs within the 80 % range in a group, for each number of days ahead. */
export interface AheadCoverage {
  readonly group: string
  readonly forecasts: number
  readonly days7: number
  readonly days14: number
  readonly days28: number
}

const OWN_LOADS_GROUPS = [
  { group: 'no own loads', least: 0, most: 0 },
  { group: '1 to 4 own loads', least: 1, most: 4 },
  { group: '5 to 14 own loads', least: 5, most: 14 },
  { group: '15 own loads or more', least: 15, most: Number.POSITIVE_INFINITY },
]
/** Groups with fewer forecasts for some number of days ahead are left out. */
const GROUP_FORECASTS_MIN = 30

/** The coverage of the 80 % ranges by own loads, and by the month of the load. */
export function aheadCoverage(forecasts: readonly AheadForecast[]): AheadCoverage[] {
  const months = Map.groupBy(forecasts, ({ at }) => new Date(at).toISOString().slice(0, 7))
  const groups = [
    ...OWN_LOADS_GROUPS.map(({ group, least, most }) => ({
      group,
      of: forecasts.filter(({ ownLoads }) => ownLoads >= least && ownLoads <= most),
    })),
    ...[...months].map(([group, of]) => ({ group, of })),
  ]
  return groups.flatMap(({ group, of }) => {
    const [days7, days14, days28] = AHEAD.map((ahead) => of.filter(({ days }) => days === ahead)).map(
      (some) =>
        some.length < GROUP_FORECASTS_MIN ? null : mean(some.map(({ within80 }) => Number(within80))),
    )
    if (days7 == null || days14 == null || days28 == null) return []
    return [{ group, forecasts: of.length, days7, days14, days28 }]
  })
}

/** A group's correction is weighed against no correction, which counts as much as this many loads. */
const GROUP_WEIGHT = 10

/** Loads that may cost more or less than others, such as pickups on a weekend. */
export interface LoadGroup {
  readonly name: string
  readonly includes: (forecast: AheadForecast) => boolean
  /** True: the correction is the group's median error. Else it is the difference from the median error of all other loads. */
  readonly drift?: boolean
}

/** The change of the mean absolute error of all forecasts when the forecasts of a group are corrected. */
export interface CorrectedGroup {
  readonly group: string
  readonly days: number
  readonly inGroup: number
  readonly difference: number
  readonly standardError: number
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  return sorted.length === 0 ? 0 : (sorted[Math.floor(sorted.length / 2)] as number)
}

/** Corrects the forecasts of a group by its earlier errors, as far as they were known on the day of the forecast. */
export function correctedGroup(
  forecasts: readonly AheadForecast[],
  { name, includes, drift = false }: LoadGroup,
): CorrectedGroup[] {
  return AHEAD.map((days) => {
    const of = forecasts.filter((one) => one.days === days).sort((one, other) => one.at - other.at)
    const inside: number[] = []
    const others: number[] = []
    let known = 0
    let lastDay = Number.NaN
    let correction = 0
    const pairs = of.map((forecast) => {
      const day = dayOf(forecast.at)
      if (day !== lastDay) {
        lastDay = day
        for (; known < of.length; known++) {
          const earlier = of[known] as AheadForecast
          if (dayOf(earlier.at) > day - days) break
          ;(includes(earlier) ? inside : others).push(earlier.error)
        }
        const share = inside.length / (inside.length + GROUP_WEIGHT)
        correction = share * (median(inside) - (drift ? 0 : median(others)))
      }
      const error = includes(forecast) ? forecast.error - correction : forecast.error
      return { week: weekOf(forecast), error, reference: forecast.error }
    })
    return { group: name, days, inGroup: of.filter(includes).length, ...pairedDifference(pairs, days / 7) }
  })
}
