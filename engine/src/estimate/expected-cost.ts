/**
 * What will a truck cost on this lane, today and in four weeks? The cost of its miles, times how much more or less its loads and
 * those of its states cost so far. The parts: length-of-haul.ts, cost-scopes.ts, cost-fold.ts, cost-season.ts, cost-errors.ts.
 * Method for a lane with few loads of its rate type: the costs of spot and contract are mixed by inverse-variance weighting
 * (https://en.wikipedia.org/wiki/Inverse-variance_weighting).
 * docs/estimate-formulas.md, "Expected cost" and "Spot and contract".
 */

import { dayOf } from '../day.ts'
import { inPool, isPooled, type QuotedLanes } from '../quotes/quoted-lanes.ts'
import type { RateType } from '../rate-type.ts'
import { finished, QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { counted } from '../wording.ts'
import {
  AHEAD_DAYS,
  type ErrorCounts,
  type ErrorRange,
  type ErrorSpread,
  errorRange,
  usualError,
} from './cost-errors.ts'
import {
  type AheadFit,
  type CostIndex,
  type CostScopes,
  chainFor,
  foldedInSteps,
  indexOn,
  knownChain,
  ownLoadsRow,
  residualAhead,
} from './cost-fold.ts'
import { countIn, weightOf } from './cost-scopes.ts'
import { type CostDays, costDaysInSteps, SEASON_WEEKS_MIN, seasonShare } from './cost-season.ts'
import { fitHaulCurveInSteps, type HaulCurve, haulLogDollars } from './length-of-haul.ts'
import { clip } from './vector.ts'

/** In ln: a truck cost counts as at most 2.2 times the curve's cost, and at least 1 / 2.2 of it. Costs beyond are mostly errors. */
const RESIDUAL_MAX = 0.8

/** A brokerage's own curve is fitted to its newest loads, at most this many: enough for its five parameters. */
const CURVE_LOADS_MAX = 10_000

/** One load with a known carrier cost. */
export interface CostSeen {
  readonly quoteId: number
  readonly costCents: number
  readonly miles: number
  readonly at: number
  /** Keys of the lane's scopes, widest first, as returned by `freightLane`. */
  readonly costKeys: readonly string[]
}

/** A load whose cost is wanted: its lane and its miles. */
export interface LoadToCost extends Pick<CostSeen, 'costKeys'> {
  readonly miles: number | null
}

/** A brokerage's prepared carrier costs: the length-of-haul curve, the residuals of each scope, and the market index. */
export interface CostModel extends CostScopes {
  readonly day: number
  readonly curve: HaulCurve
  /** True if the curve was fitted to the brokerage's loads, false if it is the default. */
  readonly ownCurve: boolean
  readonly index: CostIndex
  /** The loads by day, for the season. Null if the history is too short. */
  readonly costDays: CostDays | null
  /**
   * How much of the gap between a lane's newest loads and its level lasts until the next load, from 0 to 1: one entry for each of
   * `OWN_LOADS_ROWS`.
   */
  readonly follow: readonly number[]
  /** The season and the past errors, one entry for each of `AHEAD_DAYS`. */
  readonly ahead: readonly AheadFit[]
  /** How far truck costs were above or below the expected ones of their day, each divided by the usual error. */
  readonly signedErrors: ErrorCounts
  readonly range: ErrorRange
  /** The costs of the other rate type (spot or contract), which count for a lane with few loads of this one. Null for costs of one pool. */
  other: CostModel | null
}

/**
 * The rate type with fewer loads in all borrows from the expected cost of the other type on lanes with fewer loads of its own than this.
 */
const OWN_LOADS_ENOUGH = 5
/** How much spot and contract costs differ on a lane: the variance of the difference, in ln cost. */
const TYPE_VARIANCE = 0.01

/** An expected carrier cost, with its 80 % range. */
export interface ExpectedCost {
  readonly costCents: number
  readonly lowCents: number
  readonly highCents: number
  readonly ownLoads: number
  readonly ownCurve: boolean
  /** The share of the cost that is from loads of the other rate type. */
  readonly borrowed: number
}

/** The truck cost that is expected some days ahead, with its 80 % range. */
export interface CostAhead {
  readonly days: number
  readonly costCents: number
  readonly lowCents: number
  readonly highCents: number
  /** How the season moves the cost until that day, in ln cost. Null without seasonal evidence. */
  readonly season: number | null
}

function fromCurve(curve: HaulCurve, { costCents, miles }: Pick<CostSeen, 'costCents' | 'miles'>): number {
  return Math.log(costCents / 100) - haulLogDollars(curve, miles)
}

/** How far a load's cost is above the curve, in ln cost, limited to +-0.8. */
function residualOf(curve: HaulCurve, load: Pick<CostSeen, 'costCents' | 'miles'>): number {
  return clip(fromCurve(curve, load), -RESIDUAL_MAX, RESIDUAL_MAX)
}

function isUsable(
  { costCents, miles, at }: Pick<CostSeen, 'costCents' | 'miles' | 'at'>,
  day: number,
): boolean {
  return (
    costCents > 0 && miles > 0 && dayOf(at) <= day && Number.isFinite(costCents) && Number.isFinite(miles)
  )
}

type LaneLoad = Pick<CostSeen, 'costCents' | 'miles' | 'at'> & { readonly lane: number }

/** Loads in the order of time, and the scope keys of each lane. */
interface CostLoads {
  readonly count: number
  /** Every lane number is below this. */
  readonly laneCount: number
  /** May return the same object for each load, so that a million loads need no million objects. */
  readonly load: (nth: number) => LaneLoad
  readonly keysOf: (lane: number) => readonly string[]
}

/**
 * Prepares a brokerage's costs from a list of loads in O(n). The order of the loads does not change a digit of the result. Excludes
 * loads without a positive cost or miles, and loads dated after the day of `now`.
 *
 * @example prepareCosts([], now).ownCurve // false
 */
export function prepareCosts(loads: readonly CostSeen[], now: number): CostModel {
  const ordered = loads.toSorted((one, other) => one.at - other.at || one.quoteId - other.quoteId)
  const lanes = new Map(ordered.map(({ costKeys }, nth) => [costKeys.join(), { costKeys, number: nth }]))
  const keys = new Map([...lanes.values()].map(({ costKeys, number }) => [number, costKeys]))
  const load = (nth: number) => {
    const one = ordered[nth] as CostSeen
    return { ...one, lane: lanes.get(one.costKeys.join())?.number ?? nth }
  }
  const keysOf = (lane: number) => keys.get(lane) ?? []
  const { length } = ordered
  return finished(costsInSteps({ count: length, laneCount: length, load, keysOf }, dayOf(now)))
}

/**
 * Like `prepareCosts`, but from a brokerage's quotes in columns, and in steps so that the process can answer other requests.
 *
 * @param rows all rows in the order of time
 */
export function* prepareCostsInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Steps<CostModel> {
  const { columns } = quoted
  const one = { costCents: 0, miles: 0, at: 0, lane: 0 }
  const load = (nth: number) => {
    const row = rows[nth]!
    one.costCents = columns.costCents[row]!
    one.miles = columns.miles[row]!
    one.at = columns.quotedAt[row]!
    one.lane = columns.lane[row]!
    return one
  }
  const keysOf = (lane: number) => (lane < 0 ? [] : quoted.identity(lane).costKeys)
  return yield* costsInSteps({ count: rows.length, laneCount: quoted.laneCount, load, keysOf }, dayOf(now))
}

/** The costs of each rate type, which borrow from each other. */
export type CostsByType = Readonly<Record<RateType, CostModel>>

/**
 * The costs of spot and of contract loads, apart: each has its own curve, market and residuals.
 *
 * @param rows all rows in the order of time
 */
export function* costsByTypeInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Steps<CostsByType> {
  const ofType = function* (rateType: RateType): Steps<CostModel> {
    const pooled = inPool(quoted, rateType)
    const own = rows.filter((row) => isPooled(pooled, row))
    yield
    return yield* prepareCostsInSteps(pooled, now, own)
  }
  return linked({ spot: yield* ofType('spot'), contract: yield* ofType('contract') })
}

/** Like `costsByTypeInSteps`, for loads in lists. */
export function costsByType(
  loads: Readonly<Record<RateType, readonly CostSeen[]>>,
  now: number,
): CostsByType {
  return linked({ spot: prepareCosts(loads.spot, now), contract: prepareCosts(loads.contract, now) })
}

function linked(costs: CostsByType): CostsByType {
  costs.spot.other = costs.contract
  costs.contract.other = costs.spot
  return costs
}

function* costsInSteps({ count, laneCount, load: loadOf, keysOf }: CostLoads, day: number): Steps<CostModel> {
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
  const days = new Int32Array(count)
  const lanes = new Int32Array(count)
  const values = new Float64Array(count).fill(Number.NaN)
  const beyond = new Float32Array(count)
  for (let nth = 0; nth < count; nth++) {
    if (nth % (5 * QUOTES_PER_STEP) === 0) yield
    const load = loadOf(nth)
    // If a quote was removed or moved to a new lane since the preparation began, its lane number is out of range.
    if (!isUsable(load, day) || load.lane < 0 || load.lane >= laneCount) continue
    days[nth] = dayOf(load.at)
    lanes[nth] = load.lane
    const whole = fromCurve(curve, load)
    const value = clip(whole, -RESIDUAL_MAX, RESIDUAL_MAX)
    values[nth] = value
    beyond[nth] = whole - value
  }
  const loads = { days, lanes, values, beyond, laneCount, keysOf }
  const costDays = yield* costDaysInSteps(loads, day)
  const seasons = AHEAD_DAYS.map((ahead) => seasonShare(costDays, { day, ahead }))
  const folded = yield* foldedInSteps(loads, { day, costDays, seasons })
  const range = errorRange(folded.signedErrors)
  return { day, curve, ownCurve: own, costDays, range, ...folded, other: null }
}

/**
 * Adds a load to prepared costs (`count` 1) or removes it (-1). The curve and the errors do not change. An unusable load
 * changes nothing.
 */
export function countLoad(model: CostModel, load: Omit<CostSeen, 'quoteId'>, count: 1 | -1): void {
  if (!isUsable(load, model.day)) return
  const day = dayOf(load.at)
  model.loads += count
  countIn(chainFor(model, load.costKeys), {
    day,
    weight: weightOf(day, model.day),
    value: residualOf(model.curve, load),
    index: indexOn(model.index, day),
    count,
  })
}

/**
 * The expected carrier cost of a load: the length-of-haul curve at its miles, times e to the residual of its lane. The residual is the
 * level of its scopes (`chainOf`), plus the share `follow` of the gap to its newest loads. Null without miles, or if the brokerage has no
 * loads: the default curve of 2017 alone is not a price.
 *
 * @example expectedCost(model, { costKeys, miles: 500 })?.costCents // 166467.3 in the example of docs/estimate-formulas.md
 */
export function expectedCost(model: CostModel, lane: LoadToCost): ExpectedCost | null {
  const [today] = expectedOver(model, lane, [0])
  if (today === undefined) return null
  const { costCents, lowCents, highCents } = today
  const ownLoads = ownLoadsOf(model, lane)
  const borrowed = borrowedCostShare(model, lane)
  const ownCurve = model.ownCurve || (borrowed > 0 && model.other?.ownCurve === true)
  return { costCents, lowCents, highCents, ownLoads, ownCurve, borrowed }
}

/**
 * The expected carrier cost of a load 7, 14 and 28 days ahead: like `expectedCost`, with the season if the brokerage's earlier years are
 * evidence of one, and with the range of the brokerage's past errors over that many days. No trend is added, because in two real series the
 * movement of the last weeks did not continue. Empty if `expectedCost` is null.
 *
 * @example costsAhead(model, { costKeys, miles: 500 }).map(({ days }) => days) // [7, 14, 28]
 */
export function costsAhead(model: CostModel, lane: LoadToCost): CostAhead[] {
  return expectedOver(model, lane, [1, 2, 3])
}

/**
 * Whether the brokerage's earlier years are evidence of a season, in one sentence.
 *
 * @example seasonOf(prepareCosts([], now)).sentence
 * // 'No seasonal evidence: your costs cannot be compared with the same weeks of an earlier year.'
 */
export function seasonOf({ ahead }: CostModel): { evidence: boolean; sentence: string } {
  const seasons = ahead.slice(1).map(({ season }) => season)
  const checks = Math.max(...seasons.map((season) => season.checks))
  if (seasons.some(({ share }) => share > 0)) {
    return {
      evidence: true,
      sentence: `The costs ahead include the season: in ${checks} past weeks, the same weeks of earlier years predicted how your costs moved.`,
    }
  }
  const why =
    checks === 0
      ? 'your costs cannot be compared with the same weeks of an earlier year'
      : checks < SEASON_WEEKS_MIN
        ? `your costs can be compared with the same weeks of an earlier year in ${counted(checks, 'week')}, and ${SEASON_WEEKS_MIN} are needed`
        : `in ${checks} past weeks, the same weeks of earlier years did not predict how your costs moved`
  return { evidence: false, sentence: `No seasonal evidence: ${why}.` }
}

/**
 * How far today's costs of a lane are usually from the expected one: the errors of the brokerage's past forecasts on lanes with a similar
 * number of loads.
 *
 * @example errorSpread(prepareCosts([], now), []).usual // 0.24
 */
export function errorSpread(model: CostModel, costKeys: readonly string[]): ErrorSpread {
  const row = ownLoadsRow(knownChain(model, costKeys))
  return {
    counts: model.signedErrors,
    usual: usualError(model.ahead[0]?.errors[row], { which: 0, row }),
  }
}

const ownLoadsOf = (model: CostModel, { costKeys }: LoadToCost) =>
  model.residuals.get(costKeys.at(-1) ?? '')?.loads ?? 0

/**
 * The share of the expected cost of a lane that is from loads of the other rate type. The type with more loads borrows nothing. The type
 * with fewer loads borrows on lanes with few loads of its own. Of the two expected costs, the one with the smaller usual errors counts
 * more; the difference between the types adds to the errors of the other type.
 */
function borrowedCostShare(model: CostModel, asked: LoadToCost): number {
  const { other } = model
  if (other === null || other.loads === 0) return 0
  if (model.loads === 0) return 1
  if (model.loads > other.loads || ownLoadsOf(model, asked) >= OWN_LOADS_ENOUGH) return 0
  const own = errorSpread(model, asked.costKeys).usual ** 2
  const others = errorSpread(other, asked.costKeys).usual ** 2 + TYPE_VARIANCE
  return own / (own + others)
}

/** @param horizons positions in `AHEAD_DAYS` */
function expectedOver(model: CostModel, asked: LoadToCost, horizons: readonly number[]): CostAhead[] {
  const share = borrowedCostShare(model, asked)
  if (share === 0 || model.other === null) return expectedAlone(model, asked, horizons)
  const others = expectedAlone(model.other, asked, horizons)
  if (share === 1) return others
  const own = expectedAlone(model, asked, horizons)
  return own.map((one, at): CostAhead => {
    const two = others[at] ?? one
    const mixed = (of: (cost: CostAhead) => number) =>
      Math.exp((1 - share) * Math.log(of(one)) + share * Math.log(of(two)))
    const season =
      one.season === null || two.season === null
        ? (one.season ?? two.season)
        : (1 - share) * one.season + share * two.season
    return {
      days: one.days,
      costCents: mixed(({ costCents }) => costCents),
      lowCents: mixed(({ lowCents }) => lowCents),
      highCents: mixed(({ highCents }) => highCents),
      season,
    }
  })
}

/** The expected costs from the loads of one model. */
function expectedAlone(model: CostModel, asked: LoadToCost, horizons: readonly number[]): CostAhead[] {
  const { costKeys, miles } = asked
  if (miles === null || !(miles > 0) || !Number.isFinite(miles) || model.loads === 0) return []
  const chain = knownChain(model, costKeys)
  const row = ownLoadsRow(chain)
  return horizons.flatMap((which) => {
    const [days, fit] = [AHEAD_DAYS[which], model.ahead[which]]
    if (days === undefined || fit === undefined) return []
    const { share } = fit.season
    const { level, gap, season } = residualAhead(chain, {
      from: model.day,
      ahead: days,
      scale: 1,
      index: model.index.now,
      costDays: model.costDays,
      share,
    })
    const usual = usualError(fit.errors[row], { which, row })
    const residual = level + (model.follow[row] ?? 0) * gap + season
    const costCents = 100 * Math.exp(haulLogDollars(model.curve, miles) + residual)
    return [
      {
        days,
        costCents,
        lowCents: costCents * Math.exp(usual * model.range.low),
        highCents: costCents * Math.exp(usual * model.range.high),
        season: share === 0 ? null : season,
      },
    ]
  })
}
