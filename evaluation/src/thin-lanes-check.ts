import { dayOf } from '#engine/day.ts'
import type { CostSeen } from '#engine/estimate/expected-cost.ts'
import { addDay, emptyMarket, logReference } from '#engine/estimate/reference-rate.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { normal } from './simulation.ts'

/**
 * How far estimated going rates are from the true ones, without and with the movement of an outside market index: mean absolute
 * errors in ln rate.
 */
export interface ThinLanes {
  readonly name: string
  readonly count: number
  readonly without: number
  readonly with: number
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/**
 * Treats each lane of weekly market rates as if it had been quoted only once, some weeks ago. Estimates today's rate by the rate of
 * then, and by the rate of then moved like the other lanes since.
 */
export function thinLanesOf(rates: readonly CostSeen[], weeks: number): ThinLanes {
  const days = new Map<number, Map<string, number>>()
  for (const { at, costKeys, costCents } of rates) {
    const of = days.get(dayOf(at)) ?? new Map<string, number>()
    of.set(costKeys.at(-1) ?? '', Math.log(costCents))
    days.set(dayOf(at), of)
  }
  const [without, withMarket]: [number[], number[]] = [[], []]
  for (const [day, now] of days) {
    const then = days.get(day - 7 * weeks)
    if (then === undefined) continue
    const moved = [...now].flatMap(([lane, rate]) => {
      const before = then.get(lane)
      return before === undefined ? [] : [{ lane, move: rate - before }]
    })
    for (const { lane, move } of moved) {
      const others = moved.filter((other) => other.lane !== lane)
      if (others.length < 3) continue
      without.push(Math.abs(move))
      withMarket.push(Math.abs(move - mean(others.map((other) => other.move))))
    }
  }
  return {
    name: `one quote ${weeks} weeks ago, USDA rates`,
    count: without.length,
    without: mean(without),
    with: mean(withMarket),
  }
}

const LANES = 60
const DAYS = 180
const THIN_LANES = 20

/**
 * Estimates the going rates of thin lanes (about one quote in 60 days) of simulated brokers in a market that moves every day: from
 * the broker's own quotes, and from its quotes relative to an outside index that is wrong by `indexError` each week.
 */
export function simulateThinLanes(options: {
  tenants: number
  seed: number
  quotesADay: number
  /** Standard deviation of the market's movement in a day, in ln rate. */
  dailyMove: number
  indexError: number
}): ThinLanes {
  const [without, withIndex]: [number[], number[]] = [[], []]
  for (let tenant = 0; tenant < options.tenants; tenant++) {
    const random = seededNumbers(options.seed + tenant)
    const walk = [0]
    for (let day = 1; day <= DAYS; day++) walk.push((walk[day - 1] ?? 0) + options.dailyMove * normal(random))
    const outside = walk.map(() => 0)
    for (let day = 0; day <= DAYS; day++) {
      const isReport = day % 7 === 0
      outside[day] = isReport
        ? (walk[day] ?? 0) + options.indexError * normal(random)
        : (outside[day - 1] ?? 0)
    }
    const levels = Array.from({ length: LANES }, () => 0.2 * normal(random))
    const own = emptyMarket()
    const moved = emptyMarket()
    for (let day = 0; day < DAYS; day++) {
      const thin = Array.from({ length: THIN_LANES }, (_, lane) => lane).filter(() => random() < 1 / 60)
      const busy = Array.from(
        { length: options.quotesADay },
        () => THIN_LANES + Math.floor(random() * (LANES - THIN_LANES)),
      )
      const quotes = [...thin, ...busy].map((lane) => ({
        lane,
        logRate: (levels[lane] ?? 0) + (walk[day] ?? 0) + 0.08 * normal(random),
      }))
      if (quotes.length === 0) continue
      addDay(own, day, quotes)
      addDay(
        moved,
        day,
        quotes.map(({ lane, logRate }) => ({ lane, logRate: logRate - (outside[day] ?? 0) })),
      )
    }
    for (let lane = 0; lane < THIN_LANES; lane++) {
      if (!own.levels.has(lane)) continue
      const truth = (levels[lane] ?? 0) + (walk[DAYS] ?? 0)
      without.push(Math.abs((logReference(own, lane) ?? 0) - truth))
      withIndex.push(Math.abs((logReference(moved, lane) ?? 0) + (outside[DAYS] ?? 0) - truth))
    }
  }
  return {
    name: `simulated, market moves ${(100 * options.dailyMove).toFixed(1)} % a day, ${options.quotesADay} other quotes a day, index wrong by ${100 * options.indexError} %`,
    count: without.length,
    without: mean(without),
    with: mean(withIndex),
  }
}
