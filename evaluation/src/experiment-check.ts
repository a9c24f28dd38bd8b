import { addQuote, emptyKnots } from '#engine/estimate/knots.ts'
import { bestRate, expectedMarginCents } from '#engine/estimate/optimum.ts'
import { posteriorOf } from '#engine/estimate/posterior.ts'
import { type ExperimentQuote, experimentResult, suggestionOf } from '#engine/pilot/experiment.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { normal } from './simulation.ts'

const LANES = 60
const DAYS = 90
const REFERENCE_CENTS = 200_000
const prior = { a: 0.5, b: Math.log(8), varianceA: 2.25, covariance: 0, varianceB: 1 }

/** How an experiment did over many simulated brokerages, whose true curves are known. */
export interface ExperimentCheck {
  readonly brokerages: number
  /** The share of the 95 % ranges that contain the true gain. */
  readonly coverage: number
  /** The mean estimated gain minus the mean true gain, in dollars per quote. */
  readonly bias: number
  /** The largest modeled cost of a suggestion, as a share of the highest expected margin. */
  readonly costMax: number
}

/**
 * Simulates brokerages whose win curves differ from what their model believes, lets an experiment choose the suggestions, and
 * compares the estimated gain with the true one. Half of the reps follow the suggestion, the others quote near it.
 */
export function simulateExperiments(brokerages: number, seed: number): ExperimentCheck {
  let within = 0
  let bias = 0
  let costMax = 0
  for (let nth = 0; nth < brokerages; nth++) {
    const one = simulateOne(seededNumbers(seed + nth), `seed ${seed + nth}`)
    within += one.isWithin ? 1 : 0
    bias += one.estimated - one.truth
    costMax = Math.max(costMax, one.costMax)
  }
  return { brokerages, coverage: within / brokerages, bias: bias / brokerages, costMax }
}

const sigmoid = (logOdds: number) => 1 / (1 + Math.exp(-logOdds))

function simulateOne(random: () => number, seed: string) {
  const quotes: ExperimentQuote[] = []
  const true_ = { low: 0, high: 0, quotes: 0 }
  let costMax = 0
  for (let lane = 0; lane < LANES; lane++) {
    const reference = REFERENCE_CENTS * Math.exp(0.4 * normal(random))
    const costCents = reference * (0.82 + 0.04 * random())
    const level = 0.3 + 0.8 * normal(random)
    const steepness = 6 + 10 * random()
    const wins = (cents: number) => sigmoid(level - steepness * Math.log(cents / reference))
    // What the model has learned from: thirty past quotes.
    const knots = emptyKnots()
    for (let past = 0; past < 30; past++) {
      const x = 0.2 * (random() - 0.5)
      addQuote(knots, { x, won: random() < wins(reference * Math.exp(x)), weight: 1 })
    }
    const posterior = posteriorOf(knots, prior)
    const optimum = bestRate({
      posterior,
      referenceCents: reference,
      priceWeight: 1,
      costCents,
      floorCents: null,
    })
    for (let day = 0; day < DAYS; day++) {
      const suggested = suggestionOf({ seed }, { lane: `${lane}`, day, optimum })
      if (suggested === null) continue
      costMax = Math.max(
        costMax,
        1 - expectedShare(optimum, suggested.rateCents, { posterior, costCents, reference }),
      )
      const count = Math.floor(3 * random())
      for (let quote = 0; quote < count; quote++) {
        const off = random() < 0.5 ? 1 : Math.exp(0.03 * normal(random))
        const earns = (cents: number) => (wins(cents * off) * (cents * off - costCents)) / 100
        const ends = bothEnds(optimum)
        true_.low += earns(ends.low)
        true_.high += earns(ends.high)
        true_.quotes++
        const rate = suggested.rateCents * off
        const earned = random() < wins(rate) ? (rate - costCents) / 100 : 0
        quotes.push({ arm: suggested.arm, unit: `${lane} ${day}`, earned })
      }
    }
  }
  const result = experimentResult(quotes)
  if (result === null) throw new Error('A simulated experiment has too few lanes and days.')
  const truth = (true_.high - true_.low) / true_.quotes
  return {
    truth,
    estimated: result.gain,
    isWithin: result.range95.low <= truth && truth <= result.range95.high,
    costMax,
  }
}

const bothEnds = ({ flatZone }: ReturnType<typeof bestRate>) => ({
  low: 100 * Math.ceil(flatZone.lowCents / 100),
  high: 100 * Math.floor(flatZone.highCents / 100),
})

/** The modeled expected margin of a rate as a share of the highest. */
function expectedShare(
  optimum: ReturnType<typeof bestRate>,
  rateCents: number,
  lane: { posterior: ReturnType<typeof posteriorOf>; costCents: number; reference: number },
): number {
  const curve = { ...lane, referenceCents: lane.reference, priceWeight: 1 }
  return expectedMarginCents(curve, rateCents) / optimum.expectedMarginCents
}
