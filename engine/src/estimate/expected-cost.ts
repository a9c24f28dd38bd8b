import { filterInSteps, finished, mapInSteps, QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import { fitHaulCurveInSteps, type HaulCurve, haulLogDollars } from './length-of-haul.ts'
import { clip } from './vector.ts'

/**
 * Prior weight, in loads, of what the wider scope says, for the tenant, then with equipment the region pair, the origin's
 * state, the destination's state and the state pair, then the corridor, then corridor and equipment. The two single
 * ends are where a market is short of trucks or long on them; with them a lane without own loads is missed by less.
 */
const CHAIN_WEIGHTS = [10, 6, 8, 8, 4, 2, 1] as const
const RESIDUAL_MAX = 0.8
const HALF_LIFE_DAYS = 45
const TENANT_KEY = 'tenant'

/**
 * How far off the estimate has been, mean absolute error in ln cost, by own loads on the lane so far, and how many loads
 * that experience counts for beside the tenant's own. Measured on 4,476 US truckloads, each predicted before it moved.
 */
const SPREADS = [
  { ownLoadsMax: 0, error: 0.26 },
  { ownLoadsMax: 4, error: 0.17 },
  { ownLoadsMax: 14, error: 0.11 },
  { ownLoadsMax: Number.POSITIVE_INFINITY, error: 0.1 },
] as const
const SPREAD_WEIGHT = 20
/** 80 % of errors lie within this many mean absolute errors; 1.6 for a normal and for a Laplace distribution alike. */
const RANGE_80 = 1.6

/** One load whose carrier cost is known. */
export interface CostSeen {
  readonly laneId: number
  readonly costCents: number
  readonly miles: number
  readonly at: number
  /** Keys of the lane's scopes, widest first, as `freightLane` gives them. */
  readonly costKeys: readonly string[]
}

interface Residual {
  weight: number
  mean: number
  day: number
  loads: number
}

/** A tenant's carrier costs, prepared: the length-of-haul curve and the residuals of every scope. */
export interface CostModel {
  readonly day: number
  readonly curve: HaulCurve
  /** Whether the curve is the tenant's own, or the default shape. */
  readonly ownCurve: boolean
  readonly loads: number
  readonly residuals: ReadonlyMap<string, Residual>
  /** Sum of absolute errors in ln cost and loads, for each row of the spread table. */
  readonly errors: readonly { readonly sum: number; readonly loads: number }[]
}

/** An expected carrier cost, with the range that holds it four times out of five. */
export interface ExpectedCost {
  readonly costCents: number
  readonly lowCents: number
  readonly highCents: number
  readonly ownLoads: number
  readonly ownCurve: boolean
}

/**
 * The shrunk residual of a lane: from the widest scope to the narrowest, `e = (w mu + m0 e) / (w + m0)` with
 * m0 = 10, 6, 8, 8, 4, 2, 1 loads; a scope without loads leaves e as it was.
 *
 * @example chainResidual([{ weight: 40, mean: 0.05 }, null, null, null, null, null, null]) // .04
 */
export function chainResidual(levels: readonly ({ weight: number; mean: number } | null)[]): number {
  return CHAIN_WEIGHTS.reduce((wider, prior, i) => {
    const level = levels[i]
    return level ? (level.weight * level.mean + prior * wider) / (level.weight + prior) : wider
  }, 0)
}

function decay(residual: Residual, day: number): number {
  return residual.weight * 2 ** (-(day - residual.day) / HALF_LIFE_DAYS)
}

function residualOf(
  residuals: ReadonlyMap<string, Residual>,
  costKeys: readonly string[],
  day: number,
): number {
  return chainResidual(
    [TENANT_KEY, ...costKeys].map((key) => {
      const residual = residuals.get(key)
      return residual ? { weight: decay(residual, day), mean: residual.mean } : null
    }),
  )
}

function spreadRow(ownLoads: number): number {
  return SPREADS.findIndex((row) => ownLoads <= row.ownLoadsMax)
}

/**
 * Prepares a tenant's costs from the facts: O(n), equal digits for equal facts in any order. Loads without a positive
 * cost or miles, and loads dated after `now`'s day, are left out.
 *
 * @example prepareCosts([], now).ownCurve // false
 */
export function prepareCosts(loads: readonly CostSeen[], now: number): CostModel {
  return finished(prepareCostsInSteps(loads, now))
}

function isUsable({ costCents, miles, at }: CostSeen, day: number): boolean {
  return (
    costCents > 0 && miles > 0 && dayOf(at) <= day && Number.isFinite(costCents) && Number.isFinite(miles)
  )
}

/** As prepareCosts, to the last digit, for a process that answers others meanwhile. */
export function* prepareCostsInSteps(loads: readonly CostSeen[], now: number): Steps<CostModel> {
  const day = dayOf(now)
  const usable = (yield* filterInSteps(loads, (load) => isUsable(load, day))).sort(
    (one, other) => one.at - other.at || one.laneId - other.laneId,
  )
  yield
  const seen = yield* mapInSteps(usable, (load) => ({
    logDollars: Math.log(load.costCents / 100),
    miles: load.miles,
    ageDays: day - dayOf(load.at),
  }))
  const { curve, own } = yield* fitHaulCurveInSteps(seen)
  const residuals = new Map<string, Residual>()
  const errors = SPREADS.map(() => ({ sum: 0, loads: 0 }))
  for (const [index, load] of usable.entries()) {
    // Seven scopes a load: ten times the work of one that only looks.
    if (index % (QUOTES_PER_STEP / 10) === 0) yield
    const loadDay = dayOf(load.at)
    const rest = Math.log(load.costCents / 100) - haulLogDollars(curve, load.miles)
    const before = residualOf(residuals, load.costKeys, loadDay)
    const own = residuals.get(load.costKeys.at(-1) ?? '')?.loads ?? 0
    const error = errors[spreadRow(own)]
    if (error) {
      error.sum += Math.abs(clip(rest, -RESIDUAL_MAX, RESIDUAL_MAX) - before)
      error.loads++
    }
    const value = clip(rest, -RESIDUAL_MAX, RESIDUAL_MAX)
    for (const key of [TENANT_KEY, ...load.costKeys]) {
      const known = residuals.get(key)
      if (!known) {
        residuals.set(key, { weight: 1, mean: value, day: loadDay, loads: 1 })
        continue
      }
      const weight = decay(known, loadDay)
      known.mean = (weight * known.mean + value) / (weight + 1)
      known.weight = weight + 1
      known.day = loadDay
      known.loads++
    }
  }
  return { day, curve, ownCurve: own, loads: usable.length, residuals, errors }
}

/**
 * What a carrier will ask for a load on this lane: the length-of-haul curve at its miles, times the shrunk residual of its
 * scopes. null without miles, or without a single load of the tenant's: a 2017 shape alone is no price.
 *
 * @example expectedCost(model, { costKeys, miles: 500 })?.costCents // 166467.3 in the example of docs/model-estimate.md
 */
export function expectedCost(
  model: CostModel,
  lane: { costKeys: readonly string[]; miles: number | null },
): ExpectedCost | null {
  if (lane.miles === null || !(lane.miles > 0) || !Number.isFinite(lane.miles) || model.loads === 0)
    return null
  const logCost =
    haulLogDollars(model.curve, lane.miles) + residualOf(model.residuals, lane.costKeys, model.day)
  const ownLoads = model.residuals.get(lane.costKeys.at(-1) ?? '')?.loads ?? 0
  const row = spreadRow(ownLoads)
  const seen = model.errors[row] ?? { sum: 0, loads: 0 }
  const expected = SPREADS[row] ?? SPREADS[0]
  const error = (seen.sum + SPREAD_WEIGHT * expected.error) / (seen.loads + SPREAD_WEIGHT)
  const costCents = 100 * Math.exp(logCost)
  return {
    costCents,
    lowCents: costCents * Math.exp(-RANGE_80 * error),
    highCents: costCents * Math.exp(RANGE_80 * error),
    ownLoads,
    ownCurve: model.ownCurve,
  }
}
