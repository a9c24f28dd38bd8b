import { finished, QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import { fitHaulCurveInSteps, type HaulCurve, haulLogDollars } from './length-of-haul.ts'
import type { QuotedLanes } from './quoted-lanes.ts'
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

/** The newest loads that a tenant's own curve is drawn from: five numbers need no more. */
const CURVE_LOADS_MAX = 10_000

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

/** What the loads of a scope cost above the curve: sums of their weights on the day of the model, so that a load can be added or taken out. */
interface Residual {
  weight: number
  /** Sum of weight x residual. */
  sum: number
  loads: number
}

/** A tenant's carrier costs, prepared: the length-of-haul curve and the residuals of every scope. */
export interface CostModel {
  readonly day: number
  readonly curve: HaulCurve
  /** Whether the curve is the tenant's own, or the default shape. */
  readonly ownCurve: boolean
  loads: number
  readonly residuals: Map<string, Residual>
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

/** What a load that cost this much says about its scopes: how far it lies above the curve, in ln cost. */
function residualOf(curve: HaulCurve, { costCents, miles }: Pick<CostSeen, 'costCents' | 'miles'>): number {
  return clip(Math.log(costCents / 100) - haulLogDollars(curve, miles), -RESIDUAL_MAX, RESIDUAL_MAX)
}

/** The weight that a load of `day` has on the day `on`; never 0, so that old loads can be compared with each other. */
function weightOf(day: number, on: number): number {
  return 2 ** (-Math.min(on - day, OLDEST_DAYS) / HALF_LIFE_DAYS)
}

const OLDEST_DAYS = 20_000

/**
 * The shrunk residual of a chain of scopes whose weights are `scale` times those that are kept: as chainResidual, without a
 * list for each of a million loads.
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

/** Loads in the order of time, and the keys of the lane that each was on. */
interface CostLoads {
  readonly count: number
  readonly load: (nth: number) => LaneLoad
  readonly keysOf: (lane: number) => readonly string[]
}

/**
 * Prepares a tenant's costs from a list of loads: O(n), equal digits for equal facts in any order. Loads without a
 * positive cost or miles, and loads dated after `now`'s day, are left out.
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
 * As prepareCosts, from a tenant's quotes in columns, for a process that answers others meanwhile.
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
    // Seven scopes a load: several times the work of one that only looks.
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

/** The residuals of a lane, from the tenant's down to its own; made where there are none yet. */
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
 * Adds a load to prepared costs (`count` 1) or takes it out again (-1). The curve and the spreads stay as they were
 * prepared. A load that is not usable changes nothing.
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
