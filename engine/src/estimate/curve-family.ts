/**
 * Do a few percent around the going rate decide, or does each further percent count as much? And do the brokerage's lanes win about equally
 * often? All its lanes have one answer: the usual one, or one that is the nearer to another the better that explains the outcomes: halfway
 * when they are 20 times as likely. Method: Bayes factors (Kass and Raftery, 1995: "strong evidence" from 20 on).
 * docs/estimate-formulas.md, "The curve", Which family.
 */

import { dayOf } from '../day.ts'
import { PENDING } from '../quotes/quote-columns.ts'
import { isPooled, type QuotedLanes } from '../quotes/quoted-lanes.ts'
import type { Steps } from '../steps.ts'
import type { CountedRates } from './counted-rates.ts'
import { BANK_SIZE, bankLogLikelihood } from './curve-bank.ts'
import { emptyKnots, HALF_LIFE_DAYS, KNOT_COUNT, type Knots, knotAt } from './knots.ts'
import { type FoldedAgainst, laneOutcomesInSteps } from './lane-fold.ts'
import { weightOfWeights } from './other-losses.ts'
import { posteriorOf, winMean } from './posterior.ts'
import type { CurveShape } from './price-response.ts'
import { priorOf } from './prior.ts'
import {
  addMessageUp,
  emptyLikelihood,
  FULL_SPREADS,
  laneKinship,
  logEvidence,
  rootBelief,
  SPREAD_STEPS,
  scaledLikelihood,
} from './tree.ts'
import { addInto, clip } from './vector.ts'

/** The shape of all curves of a brokerage, and how much its lanes differ. */
export interface CurveFamily {
  readonly shape: CurveShape
  /** An index of `LANE_SPREADS`. */
  readonly spreadIndex: number
  /**
   * How much lanes differ: the variance of their levels (in log odds) around the brokerage's curve. The less they differ, the more a
   * lane takes from others.
   */
  readonly levelVariance: number
  /** How well the outcomes of all lanes together tell the brokerage's curve: the sum of p (1 - p), by weight. */
  readonly information: number
}

/** The highest win probability, however low the rate. */
const CEILING = 0.99
/**
 * The shapes, from the usual one (straight log odds) to the most bent one (0.03), in equal steps of 1 / bend. Each is one object, because
 * the bank keeps tables for it.
 */
export const SHAPES: readonly CurveShape[] = Array.from({ length: 11 }, (_, step) => ({
  ceiling: CEILING,
  bend: 0.3 / step,
}))
/** The steps of the shapes that are tried: bends of 0.1 and 0.03. */
const [HALF_BENT, BENT] = [3, 10]

/** How much lanes differ before any evidence: as the levels of lanes in one state pair. */
const LEVEL_VARIANCE = 0.5
/** `LEVEL_VARIANCE` counts as much as this sum of squared information. */
const LEVEL_INFORMATION = 5
/** Lanes are never quite alike. */
const LEVEL_VARIANCE_MIN = 0.02
/** Fewer lanes hardly tell how much lanes differ: the fewer, the less it bounds the priors. */
const LEVEL_LANES = 6
/** Of a lane with nearly all outcomes of the brokerage, nobody knows whether it differs from the others. */
const OTHERS_MIN = 0.2

/** The family of a brokerage whose outcomes do not clearly support another one. */
export const USUAL_FAMILY: CurveFamily = {
  shape: SHAPES[0] as CurveShape,
  spreadIndex: 0,
  levelVariance: LEVEL_VARIANCE,
  information: 0,
}

/** From this log likelihood above that of the usual shape or spread on, another is used: first a part of the way, then all of it. */
const EVIDENCE_MIN = 1.5
const EVIDENCE_FULL = 4.5
/** Halfway: the outcomes are e^3 = 20 times as likely. */
const EVIDENCE_STRONG = 3

/** How far to go, from 0 to 1, with this much more log likelihood. In small steps, so that one quote moves the family by little. */
function shareFor(gain: number): number {
  return clip((gain - EVIDENCE_MIN) / (EVIDENCE_FULL - EVIDENCE_MIN), 0, 1)
}

/** The lanes with most decided quotes are compared one by one. The next ones are added up to one lane, which bounds the time. */
const LANES_ALONE = 24
const LANES_TOGETHER = 300

interface SampledLane {
  readonly knots: Knots
  readonly decided: number
  /** See `weightOfWeights`. */
  readonly weightOfWeights: number
}

/**
 * The family that the brokerage's outcomes support. It is chosen from a sample of lanes, so that it takes no longer for large brokerages.
 * Other shapes than the usual one are considered only if they explain the sum of these lanes clearly better. Then each shape is tried with
 * each lane spread.
 */
export function* chooseFamily(against: FoldedAgainst, counted: CountedRates): Steps<CurveFamily> {
  const sample = yield* sampleInSteps(against, counted)
  const together = sample.slice(LANES_ALONE)
  const lanes = together.length === 0 ? sample : [...sample.slice(0, LANES_ALONE), sumOf(together)]
  const sum = sumOf(lanes)
  if (sum.decided === 0) return USUAL_FAMILY
  const usual = evidenceOf(SHAPES[0]!, lanes)
  const ofSum = (step: number) => logEvidenceOf(SHAPES[step]!, [sum], [0])[0]!
  const usualOfSum = ofSum(0)
  const gains: number[] = []
  for (const step of [HALF_BENT, BENT]) {
    yield
    const gain = ofSum(step) - usualOfSum
    const isTried = gain > EVIDENCE_MIN
    gains.push(isTried ? Math.min(gain, evidenceOf(SHAPES[step]!, lanes).most - usual.most) : gain)
  }
  const [ofHalf = 0, ofBent = 0] = gains
  const aim = HALF_BENT + (BENT - HALF_BENT) * shareFor(ofBent - ofHalf + EVIDENCE_STRONG)
  const step = Math.round(aim * shareFor(Math.max(ofHalf, ofBent)))
  yield
  const shape = SHAPES[step]!
  const { spreadIndex } = step === 0 ? usual : evidenceOf(shape, lanes)
  return { shape, spreadIndex, ...levelVariance(sample, sum, shape) }
}

/** How well a shape explains the lanes with the lane spread that suits them, less what an unusual spread must be better by. */
function evidenceOf(
  shape: CurveShape,
  lanes: readonly SampledLane[],
): { readonly most: number; readonly spreadIndex: number } {
  const [usual = 0, ...others] = logEvidenceOf(shape, lanes, FULL_SPREADS)
  const best = Math.max(...others)
  const steps = Math.round(SPREAD_STEPS * shareFor(best - usual))
  return {
    most: Math.max(usual, best - EVIDENCE_STRONG),
    spreadIndex: steps === 0 ? 0 : others.indexOf(best) * SPREAD_STEPS + steps,
  }
}

/**
 * How much the levels of lanes differ: what is beyond chance in the distances of their outcomes from the brokerage's curve, as for
 * the swing of a lane (swings.ts). That curve contains the lane's own outcomes, so its surprise is divided by the share of the
 * others.
 */
function levelVariance(
  lanes: readonly SampledLane[],
  { knots }: { readonly knots: Knots },
  shape: CurveShape,
): Pick<CurveFamily, 'levelVariance' | 'information'> {
  const curve = posteriorOf(knots, priorOf(rootBelief()), shape)
  const chances = Array.from({ length: KNOT_COUNT }, (_, k) => winMean(curve, knotAt(k)))
  const known = lanes.map(({ knots: { wins, losses }, weightOfWeights: chance }) => {
    let [surprise, information] = [0, 0]
    for (const [k, p] of chances.entries()) {
      surprise += wins[k]! * (1 - p) - losses[k]! * p
      information += (wins[k]! + losses[k]!) * p * (1 - p)
    }
    return { surprise, information, chance }
  })
  const all = known.reduce((sum, { information }) => sum + information, 0)
  const doubt = Math.max(1, LEVEL_LANES / lanes.length) ** 3
  let excess = doubt * LEVEL_INFORMATION * LEVEL_VARIANCE
  let squares = doubt * LEVEL_INFORMATION
  for (const { surprise, information, chance } of known) {
    const others = 1 - information / all
    if (!(others >= OTHERS_MIN)) continue
    excess += (surprise / others) ** 2 - (chance * information) / others
    squares += information ** 2
  }
  return { levelVariance: doubt * Math.max(LEVEL_VARIANCE_MIN, excess / squares), information: all }
}

function sumOf(lanes: readonly SampledLane[]): SampledLane {
  const knots = emptyKnots()
  let decided = 0
  for (const lane of lanes) {
    addInto(knots.wins, lane.knots.wins)
    addInto(knots.losses, lane.knots.losses)
    decided += lane.decided
  }
  return { knots, decided, weightOfWeights: 1 }
}

/** The lanes with the most decided quotes, by weight. */
function* sampleInSteps(against: FoldedAgainst, { laneOrder, rowsOf }: CountedRates): Steps<SampledLane[]> {
  const weights = yield* laneWeights(against.quoted, against.day)
  const heaviest = laneOrder
    .filter((lane) => weights[lane]! > 0)
    .sort((one, other) => weights[other]! - weights[one]!)
  const folded: SampledLane[] = []
  for (const lane of heaviest.slice(0, LANES_ALONE + LANES_TOGETHER)) {
    const outcomes = yield* laneOutcomesInSteps(against, lane, rowsOf(lane), emptyKnots())
    const { knots, decided } = outcomes
    if (decided > 0) folded.push({ knots, decided, weightOfWeights: weightOfWeights(outcomes) })
    yield
  }
  return folded
}

const ROWS_PER_STEP = 20_000

/** The weight of a quote of today. Weights are whole numbers, so that their sums do not depend on the order of the rows. */
const WHOLE = 2 ** 20

/** The decided quotes of each lane, weighted by age and added up. */
function* laneWeights(quoted: QuotedLanes, today: number): Steps<Float64Array> {
  const { columns, laneCount } = quoted
  const weights = new Float64Array(laneCount)
  for (let row = 0; row < columns.rows; row++) {
    const lane = columns.lane[row]!
    const age = today - dayOf(columns.quotedAt[row]!)
    if (lane >= 0 && age >= 0 && isPooled(quoted, row) && columns.outcomeOf(row) !== PENDING)
      weights[lane]! += Math.round(WHOLE * 2 ** (-age / HALF_LIFE_DAYS))
    if (row % ROWS_PER_STEP === 0) yield
  }
  return weights
}

/** How well a shape explains the lanes' outcomes, for each lane spread: their log likelihood. */
function logEvidenceOf(
  shape: CurveShape,
  lanes: readonly SampledLane[],
  spreads: readonly number[],
): number[] {
  const roots = spreads.map(rootBelief)
  const logLikelihood = new Float64Array(BANK_SIZE)
  const likelihood = emptyLikelihood()
  for (const { knots, decided } of lanes) {
    scaledLikelihood(bankLogLikelihood(knots, logLikelihood, shape), likelihood)
    for (const [i, spreadIndex] of spreads.entries())
      addMessageUp(roots[i] as Float64Array, likelihood, laneKinship(decided, spreadIndex))
  }
  return roots.map(logEvidence)
}
