import { finished, mapInSteps, QUOTES_PER_STEP, type Steps } from '../steps.ts'

/**
 * What a truckload costs (or is quoted at) by its miles, as ln dollars over five straight pieces in ln miles:
 * intercept, slope, and the change of slope at 250, 500 and 1,000 miles.
 */
export type HaulCurve = readonly [number, number, number, number, number]

/**
 * The shape used until a tenant has one of its own. It is a shape of the US spot market of 2017, not today's prices: the
 * tenant's own loads lift or lower it.
 */
export const DEFAULT_HAUL_CURVE: HaulCurve = [1.3441, 0.9826, -0.2174, -0.1828, 0.2374]

/** Below this a truck costs its day, however short the way. */
const SHORT_HAUL_MILES = 120
/** Loads a curve of the tenant's own needs, and the mileages they must spread over. */
const OWN_CURVE_LOADS_MIN = 60
const OWN_CURVE_SPREAD_MIN = 1.2
const HALF_LIFE_DAYS = 90
const TERMS = 5
const ROUNDS = 18
/** How strongly slopes are held to the default's, in loads: enough to settle pieces without loads, nothing beside data. */
const RIDGE = 2

function terms(miles: number): [number, number, number, number, number] {
  const log = Math.log(miles)
  return [
    1,
    Math.max(log, Math.log(SHORT_HAUL_MILES)),
    Math.max(0, log - Math.log(250)),
    Math.max(0, log - Math.log(500)),
    Math.max(0, log - Math.log(1000)),
  ]
}

/**
 * ln dollars of a haul by its miles.
 *
 * @example Math.exp(haulLogDollars(DEFAULT_HAUL_CURVE, 500)) // 1480.1278
 */
export function haulLogDollars(curve: HaulCurve, miles: number): number {
  const basis = terms(miles)
  let sum = 0
  for (let i = 0; i < TERMS; i++) sum += (curve[i] as number) * (basis[i] as number)
  return sum
}

/** One load as the curve sees it. */
export interface HaulSeen {
  readonly logDollars: number
  readonly miles: number
  readonly ageDays: number
}

/**
 * The tenant's own curve by least absolute deviations of ln dollars, a load of 90 days ago counting half; or the default,
 * with `own: false`, where there are fewer than 60 loads, their miles all lie close together, or the fit would fall
 * somewhere with distance. Least absolute deviations, so that a few cancelled or mistyped loads do not bend it.
 *
 * Solved by reweighted least squares around the default curve.
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

/** As fitHaulCurve, in steps. */
export function* fitHaulCurveInSteps(loads: readonly HaulSeen[]): Steps<FittedHaul> {
  const unfit = { curve: DEFAULT_HAUL_CURVE, own: false }
  if (loads.length < OWN_CURVE_LOADS_MIN) return unfit
  const basis = new Float64Array(loads.length * TERMS)
  const rest = yield* mapInSteps(loads, (load, n) => {
    basis.set(terms(load.miles), n * TERMS)
    return load.logDollars - haulLogDollars(DEFAULT_HAUL_CURVE, load.miles)
  })
  const age = yield* mapInSteps(loads, (load) => 2 ** (-load.ageDays / HALF_LIFE_DAYS))
  const lengths = Float64Array.from(loads, (_, n) => basis[n * TERMS + 1] as number).sort()
  const tenth = lengths[Math.floor(lengths.length * 0.1)] as number
  const ninetieth = lengths[Math.floor(lengths.length * 0.9)] as number
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
    DEFAULT_HAUL_CURVE[0] + (change[0] as number),
    DEFAULT_HAUL_CURVE[1] + (change[1] as number),
    DEFAULT_HAUL_CURVE[2] + (change[2] as number),
    DEFAULT_HAUL_CURVE[3] + (change[3] as number),
    DEFAULT_HAUL_CURVE[4] + (change[4] as number),
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

/** Adds the loads of a stretch to the equations of one round, each the heavier the nearer it lies to the curve so far. */
function addLoads(equations: Equations, from: number, to: number): void {
  const { basis, rest, age, change, floor, normal, right } = equations
  for (let n = from; n < to; n++) {
    const row = n * TERMS
    let miss = rest[n] as number
    for (let i = 0; i < TERMS; i++) miss -= (change[i] as number) * (basis[row + i] as number)
    const weight = (age[n] as number) / Math.max(Math.abs(miss), floor)
    for (let i = 0; i < TERMS; i++) {
      const scaled = weight * (basis[row + i] as number)
      right[i] = (right[i] as number) + scaled * (rest[n] as number)
      for (let j = 0; j <= i; j++) {
        normal[i * TERMS + j] = (normal[i * TERMS + j] as number) + scaled * (basis[row + j] as number)
      }
    }
  }
}

/** Whether every piece costs more the longer the haul. */
function rises(curve: HaulCurve): boolean {
  let slope = 0
  return curve.slice(1).every((term) => {
    slope += term
    return slope > 0
  })
}

/** Solves a symmetric positive system given by its lower half, by Cholesky's factors. */
function solve(normal: Float64Array, right: Float64Array): number[] {
  const factor = new Float64Array(TERMS * TERMS)
  for (let i = 0; i < TERMS; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = normal[i * TERMS + j] as number
      for (let k = 0; k < j; k++) sum -= (factor[i * TERMS + k] as number) * (factor[j * TERMS + k] as number)
      factor[i * TERMS + j] =
        i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (factor[j * TERMS + j] as number)
    }
  }
  const out = [0, 0, 0, 0, 0]
  for (let i = 0; i < TERMS; i++) {
    let sum = right[i] as number
    for (let k = 0; k < i; k++) sum -= (factor[i * TERMS + k] as number) * (out[k] as number)
    out[i] = sum / (factor[i * TERMS + i] as number)
  }
  for (let i = TERMS - 1; i >= 0; i--) {
    let sum = out[i] as number
    for (let k = i + 1; k < TERMS; k++) sum -= (factor[k * TERMS + i] as number) * (out[k] as number)
    out[i] = sum / (factor[i * TERMS + i] as number)
  }
  return out
}
