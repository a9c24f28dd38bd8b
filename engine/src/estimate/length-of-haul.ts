/**
 * What does a truckload of 500 miles cost, compared with one of 1,500? A truck on a short haul is paid for the day, not by the
 * mile. Methods: piecewise linear regression of ln dollars on ln miles, by least absolute deviations, so that a few typing errors
 * hardly matter (https://en.wikipedia.org/wiki/Least_absolute_deviations), solved by iteratively reweighted least squares
 * (Schlossmacher, 1973).
 * docs/estimate-formulas.md, "Expected cost".
 */

import { finished, mapInSteps, QUOTES_PER_STEP, type Steps } from '../steps.ts'

/**
 * The cost (or quoted rate) of a truckload by its miles: ln dollars as a piecewise linear function of ln miles. The
 * parameters are the intercept, the slope, and the change of slope at 250, 500 and 1,000 miles.
 */
export type HaulCurve = readonly [number, number, number, number, number]

/**
 * The curve of a brokerage with too few loads for its own: the US spot market of 2017. Only its shape matters, because the
 * brokerage's own loads shift it to today's prices.
 */
export const DEFAULT_HAUL_CURVE: HaulCurve = [1.3441, 0.9826, -0.2174, -0.1828, 0.2374]

/** Below this distance the cost is constant: the truck is busy for a day. */
const SHORT_HAUL_MILES = 120
/** Requirements for a brokerage's own curve: the number of loads, and the distance between the 10th and 90th percentile of ln miles. */
const OWN_CURVE_LOADS_MIN = 60
const OWN_CURVE_SPREAD_MIN = 1.2
const HALF_LIFE_DAYS = 90
const TERMS = 5
const ROUNDS = 18
/** The default slopes count as much as this many loads (ridge regression), so that pieces of the curve without loads have them. */
const RIDGE = 2

const LOG_SHORT_HAUL = Math.log(SHORT_HAUL_MILES)
/** ln of the miles at which the slope changes. */
const LOG_BENDS = [Math.log(250), Math.log(500), Math.log(1000)] as const

function terms(miles: number): [number, number, number, number, number] {
  const log = Math.log(miles)
  return [
    1,
    Math.max(log, LOG_SHORT_HAUL),
    Math.max(0, log - LOG_BENDS[0]),
    Math.max(0, log - LOG_BENDS[1]),
    Math.max(0, log - LOG_BENDS[2]),
  ]
}

/**
 * ln dollars of a haul by its miles.
 *
 * @example Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, 500)) // 1480.1278
 */
export function haulLogDollars(curve: HaulCurve, miles: number): number {
  // An array of the terms would be slow: this is called for every quote of a brokerage.
  const log = Math.log(miles)
  return (
    curve[0] +
    curve[1] * Math.max(log, LOG_SHORT_HAUL) +
    curve[2] * Math.max(0, log - LOG_BENDS[0]) +
    curve[3] * Math.max(0, log - LOG_BENDS[1]) +
    curve[4] * Math.max(0, log - LOG_BENDS[2])
  )
}

export interface HaulSeen {
  readonly logDollars: number
  readonly miles: number
  readonly ageDays: number
}

/**
 * Fits the brokerage's own curve by least absolute deviations of ln dollars, with a half-life of 90 days. Returns the default curve with
 * `own: false` for fewer than 60 loads, for loads with similar miles, or if the fitted curve would decrease with distance.
 *
 *
 * @example fitHaulCurve([]) // { curve: DEFAULT_HAUL_CURVE, own: false }
 */
export function fitHaulCurve(loads: readonly HaulSeen[]): FittedHaul {
  return finished(fitHaulCurveInSteps(loads))
}

export interface FittedHaul {
  readonly curve: HaulCurve
  readonly own: boolean
}

export function* fitHaulCurveInSteps(loads: readonly HaulSeen[]): Steps<FittedHaul> {
  const unfit = { curve: DEFAULT_HAUL_CURVE, own: false }
  if (loads.length < OWN_CURVE_LOADS_MIN) return unfit
  const basis = new Float64Array(loads.length * TERMS)
  const rest = yield* mapInSteps(loads, (load, n) => {
    basis.set(terms(load.miles), n * TERMS)
    return load.logDollars - haulLogDollars(DEFAULT_HAUL_CURVE, load.miles)
  })
  const age = yield* mapInSteps(loads, (load) => 2 ** (-load.ageDays / HALF_LIFE_DAYS))
  const lengths = Float64Array.from(loads, (_, n) => basis[n * TERMS + 1]!).sort()
  const tenth = lengths[Math.floor(lengths.length * 0.1)]!
  const ninetieth = lengths[Math.floor(lengths.length * 0.9)]!
  if (ninetieth - tenth < OWN_CURVE_SPREAD_MIN) return unfit

  let change = [0, 0, 0, 0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const floor = Math.max(0.2 * 0.6 ** round, 1e-3)
    const normal = new Float64Array(TERMS * TERMS)
    const right = new Float64Array(TERMS)
    for (let i = 1; i < TERMS; i++) normal[i * TERMS + i] = RIDGE
    normal[0] = 1e-9
    const equations = { basis, rest, age, change, floor, normal, right }
    for (let from = 0; from < loads.length; from += QUOTES_PER_STEP) {
      addLoads(equations, from, Math.min(loads.length, from + QUOTES_PER_STEP))
      yield
    }
    change = solve(normal, right)
  }
  const curve: HaulCurve = [
    DEFAULT_HAUL_CURVE[0] + change[0]!,
    DEFAULT_HAUL_CURVE[1] + change[1]!,
    DEFAULT_HAUL_CURVE[2] + change[2]!,
    DEFAULT_HAUL_CURVE[3] + change[3]!,
    DEFAULT_HAUL_CURVE[4] + change[4]!,
  ]
  return rises(curve) ? { curve, own: true } : unfit
}

interface Equations {
  readonly basis: Float64Array
  readonly rest: readonly number[]
  readonly age: readonly number[]
  readonly change: readonly number[]
  readonly floor: number
  readonly normal: Float64Array
  readonly right: Float64Array
}

/**
 * Adds loads `from` (inclusive) to `to` (exclusive) to the equations of one round. Loads closer to the current curve weigh more, so
 * that errors hardly count.
 */
function addLoads(equations: Equations, from: number, to: number): void {
  const { basis, rest, age, change, floor, normal, right } = equations
  for (let n = from; n < to; n++) {
    const row = n * TERMS
    let miss = rest[n]!
    for (let i = 0; i < TERMS; i++) miss -= change[i]! * basis[row + i]!
    const weight = age[n]! / Math.max(Math.abs(miss), floor)
    for (let i = 0; i < TERMS; i++) {
      const scaled = weight * basis[row + i]!
      right[i]! += scaled * rest[n]!
      for (let j = 0; j <= i; j++) {
        normal[i * TERMS + j]! += scaled * basis[row + j]!
      }
    }
  }
}

/** Whether the cost increases with distance on every piece. */
function rises(curve: HaulCurve): boolean {
  let slope = 0
  return curve.slice(1).every((term) => {
    slope += term
    return slope > 0
  })
}

/** Solves a symmetric positive definite system, given by its lower triangle, by Cholesky decomposition. */
function solve(normal: Float64Array, right: Float64Array): number[] {
  const factor = new Float64Array(TERMS * TERMS)
  for (let i = 0; i < TERMS; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = normal[i * TERMS + j]!
      for (let k = 0; k < j; k++) sum -= factor[i * TERMS + k]! * factor[j * TERMS + k]!
      factor[i * TERMS + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / factor[j * TERMS + j]!
    }
  }
  const out = [0, 0, 0, 0, 0]
  for (let i = 0; i < TERMS; i++) {
    let sum = right[i]!
    for (let k = 0; k < i; k++) sum -= factor[i * TERMS + k]! * out[k]!
    out[i] = sum / factor[i * TERMS + i]!
  }
  for (let i = TERMS - 1; i >= 0; i--) {
    let sum = out[i]!
    for (let k = i + 1; k < TERMS; k++) sum -= factor[k * TERMS + i]! * out[k]!
    out[i] = sum / factor[i * TERMS + i]!
  }
  return out
}
