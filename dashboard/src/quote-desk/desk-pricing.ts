import type { Answer } from '../api/index.ts'
import { type CurvePoint, readCurve } from '../shared-ui/index.ts'

type Advice = Answer<'quote-advice'>

/** What a rate is worth, read from the loaded curve: no request is needed while the user types. */
export interface RateValue {
  readonly rate: number
  readonly chance: number
  readonly interval80: { readonly low: number; readonly high: number }
  /** Set when the rate is outside of the curve: the chance is then that of its nearest end. */
  readonly beyond: 'below' | 'above' | null
  /** The margin and the worth are null when no truck cost is known. */
  readonly margin: number | null
  readonly marginPct: number | null
  /**
   * The chance times the margin: what a quote at this rate earns on average. Null above the curve, where the chance is at most
   * that of its end: a rate of $9,000 would seem to be worth more than the best one.
   */
  readonly worth: number | null
}

/** The rates of a lane, each with its value. */
export interface Pricing {
  /** The rate to quote, in whole dollars: the best expected margin raised to the floor, or else the going rate. */
  readonly quote: RateValue
  readonly basis: 'best' | 'floor' | 'going'
  /** The lowest rate that earns nearly as much as the best one, and therefore wins more often. */
  readonly safer: RateValue | null
  readonly going: RateValue | null
  /** The rates that earn nearly as much as the best one; null without a cost. */
  readonly zone: { readonly low: number; readonly high: number } | null
  readonly cost: { readonly amount: number; readonly isTyped: boolean } | null
  readonly floor: number | null
}

/** Below and above the going rate, in ln, and the step: the same grid as the service's (docs/model-estimate.md). */
const grid = { first: -0.2, last: 0.3, step: 0.005 } as const
/** A rate is nearly as good if it earns this share of the best rate. */
const nearlyShare = 0.98

function valueAt(curve: readonly CurvePoint[], rate: number, cost: number | null): RateValue | null {
  const reading = readCurve(curve, rate)
  if (reading === null) return null
  const margin = cost === null ? null : Math.round((rate - cost) * 100) / 100
  return {
    rate,
    chance: reading.probability,
    interval80: reading.interval80,
    beyond: reading.beyond,
    margin,
    marginPct: margin === null ? null : (margin / rate) * 100,
    worth: margin === null || reading.beyond === 'above' ? null : reading.probability * margin,
  }
}

/** The best rate over a cost, and the range around it that is nearly as good. */
function bestOver(curve: readonly CurvePoint[], reference: number, cost: number) {
  const steps = Math.round((grid.last - grid.first) / grid.step)
  const rates = Array.from(
    { length: steps + 1 },
    (_, at) => reference * Math.exp(grid.first + at * grid.step),
  )
  const worths = rates.map((rate) => (readCurve(curve, rate)?.probability ?? 0) * (rate - cost))
  const most = Math.max(...worths)
  const at = worths.indexOf(most)
  const isNear = (worth: number | undefined) => worth !== undefined && worth >= nearlyShare * most && most > 0
  let [low, high] = [at, at]
  while (isNear(worths[low - 1])) low--
  while (isNear(worths[high + 1])) high++
  return {
    rate: rates[at] ?? reference,
    zone: { low: rates[low] ?? reference, high: rates[high] ?? reference },
  }
}

/**
 * The rates of a lane from its advice. An entered cost replaces the expected one: the best rate is then found on the loaded
 * curve, without a request. Null when there is no curve, or neither a cost nor a going rate.
 */
export function pricingOf(
  advice: Pick<Advice, 'estimate' | 'curve' | 'optimum'>,
  { typedCost, floor }: { readonly typedCost: number | null; readonly floor: number | null },
): Pricing | null {
  const { estimate, curve = [], optimum } = advice
  const expected = estimate?.expected_cost ?? null
  const cost =
    typedCost !== null
      ? { amount: typedCost, isTyped: true }
      : expected === null
        ? null
        : { amount: expected.amount, isTyped: false }
  const reference = estimate?.reference_rate ?? null
  const best =
    typedCost !== null && reference !== null
      ? bestOver(curve, reference, typedCost)
      : optimum
        ? { rate: optimum.experiment?.rate ?? optimum.rate, zone: optimum.flat_zone }
        : null
  const wanted = best?.rate ?? reference
  if (wanted === null) return null
  const isFloored = floor !== null && floor > wanted
  const at = (rate: number | null) =>
    rate === null ? null : valueAt(curve, Math.round(rate), cost?.amount ?? null)
  const quote = at(isFloored ? Math.ceil(floor) : wanted)
  if (quote === null) return null
  const saferRate = best === null ? null : Math.max(best.zone.low, Math.ceil(floor ?? 0))
  return {
    quote,
    basis: isFloored ? 'floor' : best === null ? 'going' : 'best',
    safer: saferRate === null || Math.round(saferRate) >= quote.rate ? null : at(saferRate),
    going: at(reference),
    zone: best?.zone ?? null,
    cost,
    floor,
  }
}

/** The value of a typed rate; null without a rate. */
export function typedValue(
  advice: Pick<Advice, 'curve'>,
  { cost }: Pick<Pricing, 'cost'>,
  rate: number | null,
): RateValue | null {
  return rate === null ? null : valueAt(advice.curve ?? [], rate, cost?.amount ?? null)
}

/** How a typed rate compares with the rate to quote. */
export type Standing =
  /** It is the rate to quote, to the dollar. */
  | 'same'
  /** It earns nearly as much, or there is no cost to compare by. */
  | 'near'
  /** It is outside of the range that is nearly as good. */
  | 'off'
  /** It is below the floor or the cost. */
  | 'low'

/** @example standingOf({ rate: 1900, margin: -161, ... }, pricing) // 'low' */
export function standingOf(typed: Pick<RateValue, 'rate' | 'margin'>, pricing: Pricing): Standing {
  const { floor, zone, quote } = pricing
  if ((floor !== null && typed.rate < floor) || (typed.margin !== null && typed.margin < 0)) return 'low'
  if (Math.round(typed.rate) === quote.rate) return 'same'
  // The rate to quote may be above the zone, because of the floor.
  const isNear = zone === null || (typed.rate >= zone.low && typed.rate <= Math.max(zone.high, quote.rate))
  return isNear ? 'near' : 'off'
}
