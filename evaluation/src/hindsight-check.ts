import { dayOf } from '#engine/day.ts'
import type { CostSeen } from '#engine/estimate/expected-cost.ts'

const WEEK_DAYS = 7
const YEAR_WEEKS = 52

/** The error of the best multiple of a predictor, chosen in hindsight, beside the error of the lane's newest cost. */
export interface Hindsight {
  readonly weeks: number
  readonly predictor: string
  readonly count: number
  /** Mean absolute error of the newest cost, in ln cost. */
  readonly newest: number
  /** The multiple of the predictor with the smallest mean absolute error. */
  readonly multiple: number
  readonly inHindsight: number
}

/** ln cost by lane and week. */
type Weeks = ReadonlyMap<string, ReadonlyMap<number, number>>

function weeksOf(rates: readonly CostSeen[]): Weeks {
  const lanes = new Map<string, Map<number, number>>()
  for (const { costKeys, costCents, at } of rates) {
    const key = costKeys.at(-1) ?? ''
    const lane = lanes.get(key) ?? new Map<number, number>()
    lane.set(Math.floor(dayOf(at) / WEEK_DAYS), Math.log(costCents))
    lanes.set(key, lane)
  }
  return lanes
}

function moved(lane: ReadonlyMap<number, number> | undefined, from: number, to: number): number | null {
  const [before, after] = [lane?.get(from), lane?.get(to)]
  return before === undefined || after === undefined ? null : after - before
}

/** The average movement of costs over all lanes, in ln cost; 0 if unknown. */
function marketMoved(lanes: Weeks, from: number, to: number): number {
  const known = [...lanes.values()].flatMap((lane) => moved(lane, from, to) ?? [])
  return known.length === 0 ? 0 : known.reduce((sum, one) => sum + one, 0) / known.length
}

/** The multiple b with the least sum of |y - b x|: the median of y / x with the weights |x|. */
function leastAbsolute(pairs: readonly { x: number; y: number }[]): number {
  const ratios = pairs
    .filter(({ x }) => x !== 0)
    .map(({ x, y }) => ({ ratio: y / x, weight: Math.abs(x) }))
    .sort((one, other) => one.ratio - other.ratio)
  const half = ratios.reduce((sum, { weight }) => sum + weight, 0) / 2
  let below = 0
  for (const { ratio, weight } of ratios) {
    below += weight
    if (below >= half) return ratio
  }
  return 0
}

/**
 * Tests whether the movements of weekly truck costs can be forecast at all. The best multiple of each predictor is chosen on the
 * same weeks that it is measured on, so a forecast made in advance cannot be expected to gain more.
 */
export function hindsight(rates: readonly CostSeen[], ahead: readonly number[]): Hindsight[] {
  const lanes = weeksOf(rates)
  const predictors: Record<string, (lane: string, week: number, weeks: number) => number> = {
    'last movement of the lane': (lane, week) => moved(lanes.get(lane), week - 1, week) ?? 0,
    'last movement of all lanes': (_, week) => marketMoved(lanes, week - 1, week),
    'movement of all lanes in three weeks': (_, week) => marketMoved(lanes, week - 3, week),
    'what the lane is behind all lanes in three weeks': (lane, week) =>
      marketMoved(lanes, week - 3, week) - (moved(lanes.get(lane), week - 3, week) ?? 0),
    'movement of the same weeks a year earlier': (_, week, weeks) =>
      marketMoved(lanes, week - YEAR_WEEKS, week - YEAR_WEEKS + weeks),
  }
  return ahead.flatMap((weeks) =>
    Object.entries(predictors).map(([predictor, of]) => {
      const pairs = [...lanes].flatMap(([key, lane]) =>
        [...lane.keys()].flatMap((week) => {
          const y = moved(lane, week, week + weeks)
          return y === null ? [] : [{ x: of(key, week, weeks), y }]
        }),
      )
      const multiple = leastAbsolute(pairs)
      const error = (factor: number) =>
        pairs.reduce((sum, { x, y }) => sum + Math.abs(y - factor * x), 0) / pairs.length
      return {
        weeks,
        predictor,
        count: pairs.length,
        newest: error(0),
        multiple,
        inHindsight: error(multiple),
      }
    }),
  )
}
