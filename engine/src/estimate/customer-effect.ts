/**
 * Does this customer say yes more often than others, on any lane? A customer that is quoted on hard lanes only is not a hard customer, so
 * lanes and customers are estimated together. Methods: a logistic regression with crossed random effects, fitted like a penalized
 * quasi-likelihood (Breslow and Clayton, 1993). First, a score test (Lin, 1997) finds whether customers differ by more than chance.
 * docs/estimate-formulas.md, "The customer".
 */

import { dayOf } from '../day.ts'
import { PENDING, REFUSED, WON } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import type { Estimator } from './estimator.ts'
import { foldLaneInSteps } from './lane-fold.ts'
import type { Posterior } from './posterior.ts'
import { brake, sigmoid } from './price-response.ts'
import { clip } from './vector.ts'

/**
 * The effects of customers, the same on every lane: a customer with level 0.5 says yes more often than others.
 *
 *     log odds of a win = mean + lane + customer - steepness x - brake(x)
 *
 * The levels of lanes and of customers are normally distributed, each with a spread that is estimated from the quotes. Without evidence
 * that customers differ, their spread is zero, and an estimate with a customer equals the one without.
 */
export interface CustomerEffects {
  /** How much customers differ: the standard deviation of their effects in log odds; 0 if the quotes do not show that they differ. */
  readonly spread: number
  /** The effect of each customer, by the customer's number. */
  readonly effects: ReadonlyMap<number, CustomerEffect>
  /** The mean effect of the customers of a lane's decided quotes, by number of the lane. `mean` is that of all lanes. */
  readonly laneMeans: ReadonlyMap<number, number>
  readonly mean: number
  /** How far a customer's win rate in a month is from what its effect says: a standard deviation in log odds. See `swingOf`. */
  readonly swing: number
}

export interface CustomerEffect {
  /** How much more often the customer says yes, in log odds, shrunk toward zero. */
  readonly level: number
  readonly variance: number
  /** Its quotes that the estimate uses, each load once. */
  readonly decided: number
  readonly won: number
}

/** The outcomes of a customer in a block of this many days are compared with what its effect says. */
const BLOCK_DAYS = 30
/** "Win rates of customers do not swing" counts as much as this sum of squared information. */
const STEADY_INFORMATION = 50
const SWING_MAX = 1.5

/** Quotes with a lower weight, older than about a year, do not count. */
const WEIGHT_MIN = 1 / 64
/** Effects are zero unless the differences between customers exceed chance by this many standard deviations. */
const EVIDENCE_MIN = 2
const ROUNDS_MAX = 25
const QUOTES_PER_STEP = 4_000

interface Decided {
  readonly lane: Int32Array
  readonly customer: Int32Array
  /** The block of `BLOCK_DAYS` in which the quote was made. */
  readonly block: Int32Array
  readonly x: Float64Array
  readonly weight: Float64Array
  readonly won: Uint8Array
  /** 1 for a quote; 0 for a superseded offer that the customer refused, which is evidence, but is not counted as a quote. */
  readonly counted: Uint8Array
  readonly lanes: number
  readonly customers: number
  /** The numbers of the lanes and customers: `lane` and `customer` are positions in these lists. */
  readonly laneNumbers: readonly number[]
  readonly customerNumbers: readonly number[]
}

interface Fit {
  mean: number
  steepness: number
  laneSpread: number
  customerSpread: number
  readonly laneLevels: Float64Array
  readonly customerLevels: Float64Array
  readonly customerVariances: Float64Array
}

/**
 * Estimates the effects of all customers from a prepared estimator, in steps: about 0.4 s for 100,000 quotes, most of it to read the lanes.
 *
 * @param customerOf the number of a row's customer
 */
export function* customerEffectsInSteps(
  model: Estimator,
  customerOf: (row: number) => number,
): Steps<CustomerEffects> {
  const decided = yield* decidedInSteps(model, customerOf)
  const alone = yield* fitInSteps(decided, false)
  if (evidenceOf(decided, alone) < EVIDENCE_MIN) return noEffects(decided)
  const fit = yield* fitInSteps(decided, true)
  return effectsOf(decided, fit)
}

/**
 * The lanes with quotes, by their oldest quote. Two instances number lanes in the order in which they met them, and sums in another order
 * differ in their last digits.
 */
function lanesByQuote({ quoted: { columns, laneCount } }: Estimator): number[] {
  const oldest = new Int32Array(laneCount).fill(-1)
  const lanes: number[] = []
  for (let lane = 0; lane < laneCount; lane++) {
    if (columns.countOf(lane) === 0) continue
    lanes.push(lane)
    columns.eachRowOf(lane, (row) => {
      if (oldest[lane]! < 0 || columns.compare(row, oldest[lane]!) < 0) oldest[lane] = row
    })
  }
  return lanes.sort((one, other) => columns.compare(oldest[one]!, oldest[other]!))
}

function* decidedInSteps(model: Estimator, customerOf: (row: number) => number): Steps<Decided> {
  const { columns } = model.quoted
  const found = { lane: [] as number[], customer: [] as number[], block: [] as number[] }
  const measured = { x: [] as number[], weight: [] as number[] }
  const won: number[] = []
  const counted: number[] = []
  const laneNumbers: number[] = []
  const places = new Map<number, number>()
  const customerNumbers: number[] = []
  for (const lane of lanesByQuote(model)) {
    const { quotes } = yield* foldLaneInSteps(model, lane)
    let place = -1
    for (const { quoteId, x, weight } of quotes) {
      const row = columns.rowOf(quoteId)
      // The quote was removed between two steps.
      if (row < 0) continue
      const outcome = columns.outcomeOf(row)
      if (outcome === PENDING || weight < WEIGHT_MIN) continue
      if (place < 0) place = laneNumbers.push(lane) - 1
      const number = customerOf(row)
      let customer = places.get(number)
      if (customer === undefined) {
        customer = customerNumbers.push(number) - 1
        places.set(number, customer)
      }
      found.lane.push(place)
      found.customer.push(customer)
      found.block.push(Math.floor(dayOf(columns.quotedAt[row]!) / BLOCK_DAYS))
      measured.x.push(x)
      measured.weight.push(weight)
      won.push(outcome === WON ? 1 : 0)
      counted.push(outcome === REFUSED ? 0 : 1)
    }
    yield
  }
  return {
    lane: Int32Array.from(found.lane),
    customer: Int32Array.from(found.customer),
    block: Int32Array.from(found.block),
    x: Float64Array.from(measured.x),
    weight: Float64Array.from(measured.weight),
    won: Uint8Array.from(won),
    counted: Uint8Array.from(counted),
    lanes: laneNumbers.length,
    customers: customerNumbers.length,
    laneNumbers,
    customerNumbers,
  }
}

/**
 * Estimates the levels of lanes, and with `withCustomers` those of customers: one Newton step for each in turn, then their spreads.
 * Stops when a round hardly changes the spreads.
 */
function* fitInSteps(decided: Decided, withCustomers: boolean): Steps<Fit> {
  const { lanes, customers } = decided
  const fit: Fit = {
    mean: 0,
    steepness: 8,
    laneSpread: 1,
    customerSpread: withCustomers ? 0.5 : 0,
    laneLevels: new Float64Array(lanes),
    customerLevels: new Float64Array(customers),
    customerVariances: new Float64Array(customers),
  }
  const laneVariances = new Float64Array(lanes)
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = fit.customerSpread + fit.laneSpread
    yield* commonStep(decided, fit)
    yield* levelStep(decided, fit, decided.lane, fit.laneLevels, laneVariances, fit.laneSpread)
    fit.laneSpread = spreadOf(fit.laneLevels, laneVariances)
    if (withCustomers) {
      const { customerLevels, customerVariances, customerSpread } = fit
      yield* levelStep(decided, fit, decided.customer, customerLevels, customerVariances, customerSpread)
      fit.customerSpread = spreadOf(customerLevels, customerVariances)
    }
    if (round > 5 && Math.abs(fit.customerSpread + fit.laneSpread - before) < 1e-3) break
  }
  return fit
}

const logOddsOf = ({ lane, customer, x }: Decided, fit: Fit, at: number) =>
  fit.mean +
  fit.laneLevels[lane[at]!]! +
  fit.customerLevels[customer[at]!]! -
  fit.steepness * x[at]! -
  brake(x[at]!)

/** One Newton step for the mean and the steepness, which all quotes share. */
function* commonStep(decided: Decided, fit: Fit): Steps<void> {
  // The start values are weak priors, so that few quotes do not give an absurd steepness.
  let [slopeM, slopeB] = [(0.5 - fit.mean) / 2, (8 - fit.steepness) / 64]
  let [mm, mb, bb] = [0.5, 0, 1 / 64]
  for (let at = 0; at < decided.x.length; at++) {
    const x = decided.x[at]!
    const weight = decided.weight[at]!
    const p = sigmoid(logOddsOf(decided, fit, at))
    const residual = weight * (decided.won[at]! - p)
    const information = weight * p * (1 - p)
    slopeM += residual
    slopeB -= residual * x
    mm += information
    mb -= information * x
    bb += information * x * x
    if (at % QUOTES_PER_STEP === QUOTES_PER_STEP - 1) yield
  }
  const determinant = Math.max(1e-9, mm * bb - mb * mb)
  fit.mean = clip(fit.mean + clip((bb * slopeM - mb * slopeB) / determinant, -1, 1), -6, 6)
  fit.steepness = clip(fit.steepness + clip((mm * slopeB - mb * slopeM) / determinant, -4, 4), 0.5, 60)
}

/** One Newton step for the levels of all lanes, or of all customers. */
function* levelStep(
  decided: Decided,
  fit: Fit,
  group: Int32Array,
  levels: Float64Array,
  variances: Float64Array,
  spread: number,
): Steps<void> {
  const precision = 1 / Math.max(1e-6, spread * spread)
  const slopes = new Float64Array(levels.length)
  const information = new Float64Array(levels.length)
  for (let at = 0; at < group.length; at++) {
    const member = group[at]!
    const weight = decided.weight[at]!
    const p = sigmoid(logOddsOf(decided, fit, at))
    slopes[member]! += weight * (decided.won[at]! - p)
    information[member]! += weight * p * (1 - p)
    if (at % QUOTES_PER_STEP === QUOTES_PER_STEP - 1) yield
  }
  for (let member = 0; member < levels.length; member++) {
    const level = levels[member]!
    const total = information[member]! + precision
    const move = (slopes[member]! - precision * level) / total
    levels[member] = clip(level + clip(move, -1, 1), -4, 4)
    variances[member] = 1 / total
  }
}

function spreadOf(levels: Float64Array, variances: Float64Array): number {
  let sum = 0
  for (let at = 0; at < levels.length; at++) sum += levels[at]! ** 2 + variances[at]!
  return Math.sqrt(sum / Math.max(1, levels.length))
}

/**
 * By how many standard deviations the differences between customers exceed chance, after a fit of lanes alone: the score test of a zero
 * spread. The lanes' levels already explain a part of each customer's outcomes, so smaller differences are expected by chance.
 */
function evidenceOf(decided: Decided, fit: Fit): number {
  const { lanes, customers } = decided
  const scores = new Float64Array(customers)
  const chance = new Float64Array(customers)
  const ofCustomer = new Float64Array(customers)
  const ofLane = new Float64Array(lanes)
  const ofBoth = new Map<number, number>()
  for (let at = 0; at < decided.x.length; at++) {
    const customer = decided.customer[at]!
    const lane = decided.lane[at]!
    const weight = decided.weight[at]!
    const p = sigmoid(logOddsOf(decided, fit, at))
    const information = weight * p * (1 - p)
    scores[customer]! += weight * (decided.won[at]! - p)
    chance[customer]! += weight * information
    ofCustomer[customer]! += information
    ofLane[lane]! += information
    const both = customer * lanes + lane
    ofBoth.set(both, (ofBoth.get(both) ?? 0) + information)
  }
  const precision = 1 / Math.max(1e-6, fit.laneSpread ** 2)
  const absorbed = new Float64Array(customers)
  for (const [both, information] of ofBoth) {
    const customer = Math.floor(both / lanes)
    const total = ofLane[both % lanes]! + precision
    absorbed[customer]! += information ** 2 / total
  }
  let [excess, variance] = [0, 0]
  for (let at = 0; at < customers; at++) {
    const share = 1 - absorbed[at]! / Math.max(1e-12, ofCustomer[at]!)
    const expected = chance[at]! * share
    excess += scores[at]! ** 2 - expected
    variance += 2 * expected ** 2
  }
  return variance > 0 ? excess / Math.sqrt(variance) : 0
}

function countsOf(decided: Decided): { decided: number; won: number }[] {
  const counts = Array.from({ length: decided.customers }, () => ({ decided: 0, won: 0 }))
  for (let at = 0; at < decided.customer.length; at++) {
    const count = counts[decided.customer[at]!]
    if (count === undefined) continue
    count.decided += decided.counted[at]!
    count.won += decided.won[at]!
  }
  return counts
}

function noEffects(decided: Decided): CustomerEffects {
  const counts = countsOf(decided)
  return {
    spread: 0,
    effects: new Map(
      decided.customerNumbers.map((number, at) => [
        number,
        { level: 0, variance: 0, decided: 0, won: 0, ...counts[at] },
      ]),
    ),
    laneMeans: new Map(),
    mean: 0,
    swing: 0,
  }
}

/** What a customer's quotes of a block say: how much better than expected it went, the chance part of that, and the information. */
interface Block {
  readonly customer: number
  surprise: number
  chance: number
  information: number
}

function blocksOf(decided: Decided, fit: Fit): Block[] {
  const blocks = new Map<string, Block>()
  for (let at = 0; at < decided.x.length; at++) {
    const customer = decided.customer[at]!
    const key = `${customer} ${decided.block[at]}`
    const block = blocks.get(key) ?? { customer, surprise: 0, chance: 0, information: 0 }
    const weight = decided.weight[at]!
    const p = sigmoid(logOddsOf(decided, fit, at))
    block.surprise += weight * (decided.won[at]! - p)
    block.chance += weight * weight * p * (1 - p)
    block.information += weight * p * (1 - p)
    blocks.set(key, block)
  }
  return [...blocks.values()]
}

/** A block that is this much of what is known about its customer says little about how the customer moves. */
const OWN_SHARE_MAX = 0.8

/**
 * How much the win rates of customers move from month to month beyond chance: extra-binomial variation by moments (Williams, 1982), as
 * for lanes in swings.ts. It is far above 0 where a customer decides whole orders at once. The effects are fitted to the same outcomes, so
 * that each block is compared with what the rest of its customer's blocks say: its surprise is divided by 1 - h, where h is its part of
 * the information (its leverage; Pregibon, Annals of Statistics 9, 1981).
 */
function swingOf(blocks: readonly Block[], { customerSpread, customerLevels }: Fit): number {
  const known = new Float64Array(customerLevels.length).fill(1 / Math.max(1e-6, customerSpread ** 2))
  for (const { customer, information } of blocks) known[customer]! += information
  let [excess, squares] = [0, STEADY_INFORMATION]
  for (const { customer, surprise, chance, information } of blocks) {
    const rest = 1 - information / known[customer]!
    if (rest < 1 - OWN_SHARE_MAX) continue
    excess += (surprise / rest) ** 2 - chance / rest
    squares += information * information
  }
  return clip(Math.sqrt(Math.max(0, excess / squares)), 0, SWING_MAX)
}

/** The variances of the effects: a month says less about its customer, the more customers swing. */
function variancesOf(
  blocks: readonly Block[],
  { customerSpread, customerLevels }: Fit,
  swing: number,
): Float64Array {
  const precisions = new Float64Array(customerLevels.length).fill(1 / Math.max(1e-6, customerSpread ** 2))
  for (const { customer, information } of blocks)
    precisions[customer]! += information / (1 + swing * swing * information)
  return precisions.map((precision) => 1 / precision)
}

function effectsOf(decided: Decided, fit: Fit): CustomerEffects {
  const counts = countsOf(decided)
  const blocks = blocksOf(decided, fit)
  const swing = swingOf(blocks, fit)
  const variances = variancesOf(blocks, fit, swing)
  const sums = new Float64Array(decided.lanes)
  const weights = new Float64Array(decided.lanes)
  let [sum, total] = [0, 0]
  for (let at = 0; at < decided.lane.length; at++) {
    const lane = decided.lane[at]!
    const weight = decided.weight[at]!
    const level = fit.customerLevels[decided.customer[at]!]!
    sums[lane]! += weight * level
    weights[lane]! += weight
    sum += weight * level
    total += weight
  }
  return {
    spread: fit.customerSpread,
    effects: new Map(
      decided.customerNumbers.map((number, at) => [
        number,
        {
          level: fit.customerLevels[at]!,
          variance: variances[at]!,
          decided: counts[at]?.decided ?? 0,
          won: counts[at]?.won ?? 0,
        },
      ]),
    ),
    laneMeans: new Map(decided.laneNumbers.map((number, at) => [number, sums[at]! / weights[at]!])),
    mean: total > 0 ? sum / total : 0,
    swing,
  }
}

/** How much more often a customer says yes than the customers on a lane, in log odds, and how uncertain that is. */
export interface CustomerShift {
  readonly level: number
  readonly variance: number
  /** See `CustomerEffects`. */
  readonly swing: number
}

/**
 * The shift for a customer on a lane. The lane's curve already contains the customers that were quoted on it, so their mean effect is
 * subtracted; for the share of the curve from other lanes, the mean effect of all customers is subtracted. Null if customers do not differ.
 *
 * @param customer null for a customer without decided quotes
 */
export function customerShift(
  { spread, effects, laneMeans, mean, swing }: CustomerEffects,
  { customer, lane, borrowedShare }: { customer: number | null; lane: number | null; borrowedShare: number },
): CustomerShift | null {
  if (spread === 0) return null
  const own = customer === null ? undefined : effects.get(customer)
  const ofLane = (lane === null ? undefined : laneMeans.get(lane)) ?? mean
  return {
    level: (own?.level ?? 0) - (1 - borrowedShare) * ofLane - borrowedShare * mean,
    variance: own?.variance ?? spread * spread,
    swing,
  }
}

/** Three points with the mean and the variance of a normal distribution: see interval.ts. */
const POINTS = [
  { at: -Math.sqrt(3), weight: 1 / 6 },
  { at: 0, weight: 2 / 3 },
  { at: Math.sqrt(3), weight: 1 / 6 },
] as const

/** The curves of a lane for one customer: shifted by the customer's effect, and spread by its uncertainty and by how customers swing. */
export function shiftedPosterior(posterior: Posterior, { level, variance, swing }: CustomerShift): Posterior {
  const size = posterior.weights.length
  const { varianceA } = posterior.belief
  const levels = new Float64Array(POINTS.length * size)
  const steepness = new Float64Array(POINTS.length * size)
  const weights = new Float64Array(POINTS.length * size)
  for (const [point, { at, weight }] of POINTS.entries()) {
    const shift = level + at * Math.sqrt(variance)
    for (let c = 0; c < size; c++) {
      levels[point * size + c] = posterior.levels[c]! + shift
      steepness[point * size + c] = posterior.steepness[c]!
      weights[point * size + c] = weight * posterior.weights[c]!
    }
  }
  return {
    ...posterior,
    levels,
    steepness,
    weights,
    noise: Math.hypot(posterior.noise, swing),
    // The customer's own variance counts wholly.
    reach: Math.sqrt((posterior.reach ** 2 * varianceA + variance) / (varianceA + variance)),
    mode: { a: posterior.mode.a + level, b: posterior.mode.b },
    belief: {
      ...posterior.belief,
      a: posterior.belief.a + level,
      varianceA: posterior.belief.varianceA + variance,
    },
  }
}
