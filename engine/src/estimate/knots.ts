/**
 * How many quotes of a lane were won and lost at each distance from the going rate? Two histograms say all that its win curve
 * needs, and take the same room for 3 quotes and for 30,000. Method: linear binning (Wand and Jones, Kernel Smoothing, 1995).
 * docs/estimate-formulas.md, "The curve".
 */

import { clip } from './vector.ts'

/**
 * The number of relative rates (knots) at which outcomes are counted: from 45 % below the reference rate to 82 % above it, in steps
 * of 2 %.
 */
export const KNOT_COUNT = 61
const KNOT_FIRST = -0.6
const KNOT_STEP = 0.02

/** The half-life of a decided quote's weight, in days. */
export const HALF_LIFE_DAYS = 60

/** The decided quotes of a lane as two histograms over relative rate: wins and losses. */
export interface Knots {
  readonly wins: Float64Array
  readonly losses: Float64Array
}

export function emptyKnots(): Knots {
  return { wins: new Float64Array(KNOT_COUNT), losses: new Float64Array(KNOT_COUNT) }
}

/** Empties knots, to reuse them for the next lane. */
export function clearKnots(knots: Knots): Knots {
  knots.wins.fill(0)
  knots.losses.fill(0)
  return knots
}

/** The relative rate of a knot. @example knotAt(30) // 0 */
export function knotAt(index: number): number {
  return KNOT_FIRST + KNOT_STEP * index
}

/**
 * Adds one decided quote. Its weight is divided between the two nearest knots in proportion to proximity, which preserves
 * the mean relative rate. Rates beyond the first or last knot count there. A negative weight removes a quote.
 *
 * @example addQuote(knots, { x: 0.05, won: true, weight: 1 }) // half a win at .04, half at .06
 */
export function addQuote(knots: Knots, quote: { x: number; won: boolean; weight: number }): void {
  const place = clip((quote.x - KNOT_FIRST) / KNOT_STEP, 0, KNOT_COUNT - 1)
  const left = Math.min(Math.floor(place), KNOT_COUNT - 2)
  const share = place - left
  const side = quote.won ? knots.wins : knots.losses
  side[left]! += quote.weight * (1 - share)
  side[left + 1]! += quote.weight * share
}
