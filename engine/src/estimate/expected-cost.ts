import { finished, QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import { fitHaulCurveInSteps, type HaulCurve, haulLogDollars } from './length-of-haul.ts'
import type { QuotedLanes } from './quoted-lanes.ts'
import { clip } from './vector.ts'

/**
 * Prior weight of the next wider scope, in loads, for each scope: the tenant; the region pair, origin state, destination
 * state and state pair, each with equipment; the corridor; the corridor with equipment. The origin and destination states
 * capture whether trucks are scarce at one end. They reduce the error on lanes without own loads.
 */
const CHAIN_WEIGHTS = [10, 6, 8, 8, 4, 2, 1] as const
const RESIDUAL_MAX = 0.8
const HALF_LIFE_DAYS = 45
const TENANT_KEY = 'tenant'

/** A tenant's own curve is fitted to at most this number of newest loads, which is enough for its five parameters. */
const CURVE_LOADS_MAX = 10_000

/**
 * The mean absolute error of the estimate in ln cost, by the number of own loads on the lane. Measured on 4,476 US
 * truckloads, each predicted before it moved.
 */
const SPREADS = [
  { ownLoadsMax: 0, error: 0.26 },
  { ownLoadsMax: 4, error: 0.17 },
  { ownLoadsMax: 14, error: 0.11 },
  { ownLoadsMax: Number.POSITIVE_INFINITY, error: 0.1 },
] as const
/** The weight of the measured error beside the tenant's own errors, in loads. */
const SPREAD_WEIGHT = 20
/** 80 % of errors are within this many mean absolute errors, for a normal and for a Laplace distribution. */
const RANGE_80 = 1.6

/** One load with a known carrier cost. */
export interface CostSeen {
  readonly laneId: number
  readonly costCents: number
  readonly miles: number
  readonly at: number
  /** Keys of the lane's scopes, widest first, as returned by `freightLane`. */
  readonly costKeys: readonly string[]
}

/**
 * Sums over the loads of a scope, weighted for the day of the model, so that a load can be added or removed. A load's
 * residual is ln cost minus the curve.
 */
interface Residual {
  weight: number
  /** Sum of weight x residual. */
  sum: number
  loads: number
}

/** A tenant's prepared carrier costs: the length-of-haul curve and the residuals of each scope. */
export interface CostModel {
  readonly day: number
  readonly curve: HaulCurve
  /** True if the curve was fitted to the tenant's loads, false if it is the default. */
  readonly ownCurve: boolean
  loads: number
  readonly residuals: Map<string, Residual>
  /** For each row of `SPREADS`: the sum of absolute errors in ln cost, and the number of loads. */
  readonly errors: readonly { readonly sum: number; readonly loads: number }[]
}

/** An expected carrier cost, with its 80 % range. */
export interface ExpectedCost {
  readonly costCents: number
  readonly lowCents: number
  readonly highCents: number
  readonly ownLoads: number
  readonly ownCurve: boolean
}

/**
 * The shrunk residual of a lane: from the widest scope to the narrowest, `e = (w mu + m0 e) / (w + m0)` with
 * m0 = 10, 6, 8, 8, 4, 2, 1 loads. A scope without loads does not change e.
 *
 * @example chainResidual([{ weight: 40, mean: 0.05 }, null, null, null, null, null, null]) // .04
 */
export function chainResidual(levels: readonly ({ weight: number; mean: number } | null)[]): number {
  return CHAIN_WEIGHTS.reduce((wider, prior, i) => {
    const level = levels[i]
    return level ? (level.weight * level.mean + prior * wider) / (level.weight + prior) : wider
  }, 0)
}

/** The residual of a load: ln cost minus the curve, limited to +-0.8. */
function residualOf(curve: HaulCurve, { costCents, miles }: Pick<CostSeen, 'costCents' | 'miles'>): number {
  return clip(Math.log(costCents / 100) - haulLogDollars(curve, miles), -RESIDUAL_MAX, RESIDUAL_MAX)
}

/**
 * The weight of a load of `day` on the day `on`. It is never 0, because the error of an old load is computed from
 * ratios of weights.
 */
function weightOf(day: number, on: number): number {
  return 2 ** (-Math.min(on - day, OLDEST_DAYS) / HALF_LIFE_DAYS)
}

const OLDEST_DAYS = 20_000

/**
 * The shrunk residual of a chain of scopes, with their weights multiplied by `scale`. Same formula as `chainResidual`, but
 * without an array per load.
 */
function chainOf(chain: readonly (Residual | undefined)[], scale: number): number {
  let wider = 0
  for (let i = 0; i < chain.length; i++) {
    const residual = chain[i]
    if (residual === undefined || residual.loads === 0) continue
    const prior = CHAIN_WEIGHTS[i] ?? 1
    const weight = residual.weight * scale
    wider = (weight * (residual.sum / residual.weight) + prior * wider) / (weight + prior)
  }
  return wider
}

function spreadRow(ownLoads: number): number {
  return SPREADS.findIndex((row) => ownLoads <= row.ownLoadsMax)
}

function isUsable(
  { costCents, miles, at }: Pick<CostSeen, 'costCents' | 'miles' | 'at'>,
  day: number,
): boolean {
  return (
    costCents > 0 && miles > 0 && dayOf(at) <= day && Number.isFinite(costCents) && Number.isFinite(miles)
  )
}

/** A load on a numbered lane. */
type LaneLoad = Pick<CostSeen, 'costCents' | 'miles' | 'at'> & { readonly lane: number }

/** Loads in the order of time, and the scope keys of each lane. */
interface CostLoads {
  readonly count: number
  readonly load: (nth: number) => LaneLoad
  readonly keysOf: (lane: number) => readonly string[]
}

/**
 * Prepares a tenant's costs from a list of loads in O(n). The order of the loads does not change a digit of the result.
 * Excludes loads without a positive cost or miles, and loads dated after the day of `now`.
 *
 * @example prepareCosts([], now).ownCurve // false
 */
export function prepareCosts(loads: readonly CostSeen[], now: number): CostModel {
  const ordered = loads.toSorted((one, other) => one.at - other.at || one.laneId - other.laneId)
  return finished(
    costsInSteps(
      {
        count: ordered.length,
        load: (nth) => ({ ...(ordered[nth] as CostSeen), lane: nth }),
        keysOf: (lane) => ordered[lane]?.costKeys ?? [],
      },
      dayOf(now),
    ),
  )
}

/**
 * Like `prepareCosts`, but from a tenant's quotes in columns, and in steps so that the process can answer other requests.
 *
 * @param rows all rows in the order of time
 */
export function* prepareCostsInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Steps<CostModel> {
  const { columns } = quoted
  const load = (nth: number) => {
    const row = rows[nth] as number
    return {
      costCents: columns.costCents[row] as number,
      miles: columns.miles[row] as number,
      at: columns.quotedAt[row] as number,
      lane: columns.lane[row] as number,
    }
  }
  const keysOf = (lane: number) => (lane < 0 ? [] : quoted.identity(lane).costKeys)
  return yield* costsInSteps({ count: rows.length, load, keysOf }, dayOf(now))
}

function* costsInSteps({ count, load: loadOf, keysOf }: CostLoads, day: number): Steps<CostModel> {
  const newest: { logDollars: number; miles: number; ageDays: number }[] = []
  for (let nth = count - 1; nth >= 0 && newest.length < CURVE_LOADS_MAX; nth--) {
    if (nth % (5 * QUOTES_PER_STEP) === 0) yield
    const load = loadOf(nth)
    if (!isUsable(load, day)) continue
    newest.push({
      logDollars: Math.log(load.costCents / 100),
      miles: load.miles,
      ageDays: day - dayOf(load.at),
    })
  }
  const { curve, own } = yield* fitHaulCurveInSteps(newest.reverse())
  const model = { day, curve, ownCurve: own, loads: 0, residuals: new Map<string, Residual>() }
  const errors = SPREADS.map(() => ({ sum: 0, loads: 0 }))
  const chains = new Map<number, Residual[]>()
  for (let nth = 0; nth < count; nth++) {
    // A load updates seven scopes, so these steps are shorter than those of the loop above.
    if (nth % QUOTES_PER_STEP === 0) yield
    const load = loadOf(nth)
    if (!isUsable(load, day)) continue
    let chain = chains.get(load.lane)
    if (chain === undefined) {
      chain = chainFor(model, keysOf(load.lane))
      chains.set(load.lane, chain)
    }
    const loadDay = dayOf(load.at)
    const weight = weightOf(loadDay, day)
    const value = residualOf(curve, load)
    const error = errors[spreadRow(chain.at(-1)?.loads ?? 0)]
    if (error) {
      error.sum += Math.abs(value - chainOf(chain, 1 / weight))
      error.loads++
    }
    model.loads++
    addTo(chain, { weight, value, count: 1 })
  }
  return { ...model, errors }
}

/** The residuals of a lane's scopes, widest first. Creates missing ones. */
function chainFor({ residuals }: Pick<CostModel, 'residuals'>, costKeys: readonly string[]): Residual[] {
  return [TENANT_KEY, ...costKeys].map((key) => {
    const known = residuals.get(key) ?? { weight: 0, sum: 0, loads: 0 }
    residuals.set(key, known)
    return known
  })
}

function addTo(chain: readonly Residual[], load: { weight: number; value: number; count: 1 | -1 }): void {
  for (const residual of chain) {
    residual.weight += load.count * load.weight
    residual.sum += load.count * load.weight * load.value
    residual.loads += load.count
  }
}

/**
 * Adds a load to prepared costs (`count` 1) or removes it (-1). The curve and the errors do not change. An unusable load
 * changes nothing.
 */
export function countLoad(
  model: CostModel,
  load: Pick<CostSeen, 'costCents' | 'miles' | 'at' | 'costKeys'>,
  count: 1 | -1,
): void {
  if (!isUsable(load, model.day)) return
  const weight = weightOf(dayOf(load.at), model.day)
  model.loads += count
  addTo(chainFor(model, load.costKeys), { weight, value: residualOf(model.curve, load), count })
}

/**
 * The expected carrier cost of a load: the length-of-haul curve at its miles, times e to the shrunk residual of its
 * scopes. Null without miles, or if the tenant has no loads: the default curve of 2017 alone is not a price.
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
    haulLogDollars(model.curve, lane.miles) +
    chainOf(
      [TENANT_KEY, ...lane.costKeys].map((key) => model.residuals.get(key)),
      1,
    )
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
