import { chainResidual } from '#engine/estimate/cost-scopes.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { type CostSeen, costsAhead, expectedCost, prepareCosts } from '#engine/estimate/expected-cost.ts'
import { type HaulCurve, haulLogDollars } from '#engine/estimate/length-of-haul.ts'

const DAY = 86_400_000
const WARM_UP_DAYS = 30
const AHEAD = [7, 14, 28]
const HALF_LIFE_DAYS = 45

/** The forecasts of one load, as ln(actual cost / forecast), from what was known `days` before it. */
export interface AheadForecast {
  readonly laneId: number
  readonly at: number
  readonly days: number
  readonly ownLoads: number
  readonly error: number
  /** The expected cost of the day of the forecast, carried forward. */
  readonly carried: number
  /** The length-of-haul curve and the residual chain alone, carried forward: no market index, no newest loads. */
  readonly chain: number
  /** The newest cost of the lane by its miles; of its state pair, or of all loads, if there is none. */
  readonly last: number
  readonly within80: boolean
  readonly seasonal: boolean
}

/** The newest load of each scope. */
function newestLoads(past: readonly CostSeen[]): (load: CostSeen) => CostSeen | undefined {
  const newest = new Map<string, CostSeen>()
  for (const load of past) for (const key of load.costKeys) newest.set(key, load)
  return ({ costKeys }) => newest.get(costKeys[5] ?? '') ?? newest.get(costKeys[3] ?? '') ?? past.at(-1)
}

/** The residual chain alone, from the definitions in docs/model-estimate.md. */
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
        out.push({
          laneId: load.laneId,
          at: load.at,
          days: ahead,
          ownLoads: today.ownLoads,
          error: against(then.costCents),
          carried: against(today.costCents),
          chain: against(100 * Math.exp(byChain(load))),
          last: against((before.costCents * load.miles) / before.miles),
          within80: load.costCents >= then.lowCents && load.costCents <= then.highCents,
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
  readonly within80: number
  /** The share of forecasts with a season. */
  readonly seasonal: number
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function aheadQuality(forecasts: readonly AheadForecast[]): AheadQuality[] {
  return AHEAD.map((days) => {
    const of = forecasts.filter((forecast) => forecast.days === days)
    const error = (which: 'error' | 'carried' | 'chain' | 'last') =>
      mean(of.map((forecast) => Math.abs(forecast[which])))
    return {
      days,
      count: of.length,
      model: error('error'),
      carried: error('carried'),
      chain: error('chain'),
      last: error('last'),
      within80: mean(of.map(({ within80 }) => Number(within80))),
      seasonal: mean(of.map(({ seasonal }) => Number(seasonal))),
    }
  })
}

/** Weight of "no effect" in the mean error of a group, in loads. */
const GROUP_WEIGHT = 50

/**
 * The mean absolute error of the forecasts seven days ahead if they are corrected by the mean error of the earlier loads of
 * the same group, such as the weekday of the pickup. An error counts once it was known on the day of the forecast.
 */
export function correctedError(
  forecasts: readonly AheadForecast[],
  groupOf: (forecast: AheadForecast) => number,
): { uncorrected: number; corrected: number } {
  const week = forecasts.filter(({ days }) => days === 7).sort((one, other) => one.at - other.at)
  const groups = new Map<number, { sum: number; loads: number }>()
  let known = 0
  const errors = week.map((forecast) => {
    for (; dayOf(week[known]?.at ?? 0) <= dayOf(forecast.at) - 7 && known < week.length; known++) {
      const earlier = week[known] as AheadForecast
      const group = groups.get(groupOf(earlier)) ?? { sum: 0, loads: 0 }
      group.sum += earlier.error
      group.loads++
      groups.set(groupOf(earlier), group)
    }
    const group = groups.get(groupOf(forecast)) ?? { sum: 0, loads: 0 }
    return forecast.error - group.sum / (group.loads + GROUP_WEIGHT)
  })
  return {
    uncorrected: mean(week.map(({ error }) => Math.abs(error))),
    corrected: mean(errors.map(Math.abs)),
  }
}
