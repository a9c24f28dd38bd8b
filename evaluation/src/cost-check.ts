import { dayOf } from '#engine/day.ts'
import { errorBelow } from '#engine/estimate/cost-errors.ts'
import { errorSpread, expectedCost, prepareCosts } from '#engine/estimate/expected-cost.ts'
import { haulLogDollars } from '#engine/estimate/length-of-haul.ts'
import { marginAtRisk } from '#engine/estimate/margin-at-risk.ts'
import type { Truckload } from './loadsmart.ts'

const DAY = 86_400_000
const WARM_UP_DAYS = 30

/**
 * The errors of a load's cost forecast, which uses only loads of earlier days. Errors are shares of the actual cost.
 */
export interface CostForecast {
  readonly error: number
  readonly errorByCostPerMile: number
  readonly errorByCurve: number
  readonly ownLoads: number
  readonly within80: boolean
  /** The forecast chance of a cost below the actual cost, from the distribution behind the margin at risk. */
  readonly chanceBelow: number
  /** The chance that the load's customer rate would lose money, and whether it did. */
  readonly lossChance: number
  readonly lost: boolean
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * Forecasts each load's cost, day by day from day 30, by the model and by two baselines: median rate per mile, and
 * curve only.
 */
export function forecastCosts(loads: readonly Truckload[], onDay?: (day: number) => void): CostForecast[] {
  const days = new Map<number, Truckload[]>()
  for (const load of loads) days.set(dayOf(load.at), [...(days.get(dayOf(load.at)) ?? []), load])
  const first = Math.min(...days.keys())
  const past: Truckload[] = []
  const out: CostForecast[] = []
  for (const [day, today] of days) {
    onDay?.(day - first)
    if (day - first >= WARM_UP_DAYS) {
      const model = prepareCosts(past, day * DAY)
      const perMile = median(past.map((load) => load.costCents / load.miles))
      const lift = median(
        past
          .slice(-1000)
          .map((load) => Math.log(load.costCents / 100) - haulLogDollars(model.curve, load.miles)),
      )
      for (const load of today) {
        const cost = expectedCost(model, load)
        if (!cost) continue
        const spread = errorSpread(model, load.costKeys)
        const byCurve = 100 * Math.exp(haulLogDollars(model.curve, load.miles) + lift)
        out.push({
          error: Math.abs(cost.costCents / load.costCents - 1),
          errorByCostPerMile: Math.abs((perMile * load.miles) / load.costCents - 1),
          errorByCurve: Math.abs(byCurve / load.costCents - 1),
          ownLoads: cost.ownLoads,
          within80: load.costCents >= cost.lowCents && load.costCents <= cost.highCents,
          chanceBelow: errorBelow(spread, Math.log(load.costCents / cost.costCents)),
          lossChance: marginAtRisk({ costCents: cost.costCents, spread }, load.rateCents).lossChance,
          lost: load.costCents > load.rateCents,
        })
      }
    }
    past.push(...today)
  }
  return out
}

/** Median absolute percentage error and the share within 20 %. */
export function costQuality(errors: readonly number[]): { count: number; median: number; within20: number } {
  return {
    count: errors.length,
    median: median(errors),
    within20: errors.filter((error) => error <= 0.2).length / errors.length,
  }
}

/**
 * How well forecast cost distributions fit the actual costs. A tenth of the costs should be below the first tenth of their
 * distributions, and so on: `worstTenth` is the largest difference.
 */
export interface RiskQuality {
  readonly within80: number
  /** The share of loads with a cost that only one of ten should exceed. */
  readonly aboveNineTenths: number
  readonly worstTenth: number
  /** Ten groups of equal size by the chance of losing money, lowest first. */
  readonly losses: readonly { readonly chance: number; readonly lost: number; readonly loads: number }[]
}

export function riskQuality(forecasts: readonly CostForecast[]): RiskQuality {
  const below = (chance: number) =>
    forecasts.filter(({ chanceBelow }) => chanceBelow <= chance).length / forecasts.length
  const tenths = Array.from({ length: 9 }, (_, at) => (at + 1) / 10)
  const ordered = forecasts.toSorted((one, other) => one.lossChance - other.lossChance)
  const losses = Array.from({ length: 10 }, (_, at) => {
    const group = ordered.slice((at * ordered.length) / 10, ((at + 1) * ordered.length) / 10)
    return {
      chance: group.reduce((sum, { lossChance }) => sum + lossChance, 0) / group.length,
      lost: group.filter(({ lost }) => lost).length / group.length,
      loads: group.length,
    }
  })
  return {
    within80: below(0.9) - below(0.1),
    aboveNineTenths: 1 - below(0.9),
    worstTenth: Math.max(...tenths.map((tenth) => Math.abs(below(tenth) - tenth))),
    losses,
  }
}
