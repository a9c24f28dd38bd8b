import type { Answer } from '../api/index.ts'
import { type CurvePoint, readCurve } from '../shared-ui/index.ts'
import { type LaneRules, laneRules, limitsIn, quotableRate, rulesInWords } from './desk-ruled-rate.ts'

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
  /**
   * The rate to quote: the best expected margin, or the end of its zone that a running experiment suggests, or else the going rate,
   * or the target of the rules, within their limits and rounded.
   */
  readonly quote: RateValue
  readonly basis: 'best' | 'experiment' | 'going' | 'target' | 'minimum' | 'maximum'
  /** What the rules changed about the rate to quote, in words; empty if nothing. */
  readonly changed: string
  /** The lowest rate that earns nearly as much as the best one, and therefore wins more often. */
  readonly safer: RateValue | null
  readonly going: RateValue | null
  /** The rates that earn nearly as much as the best one; null without a cost. */
  readonly zone: { readonly low: number; readonly high: number } | null
  readonly cost: { readonly amount: number; readonly isTyped: boolean } | null
  /** The lowest and the highest rate that the rules allow. */
  readonly floor: number | null
  readonly ceiling: number | null
  /** The rules that apply, in words. */
  readonly rules: readonly string[]
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
  advice: Pick<Advice, 'estimate' | 'curve' | 'optimum' | 'rules'>,
  typedCost: number | null,
): Pricing | null {
  const { estimate, curve = [] } = advice
  const expected = estimate?.expected_cost ?? null
  const cost =
    typedCost !== null
      ? { amount: typedCost, isTyped: true }
      : expected === null
        ? null
        : { amount: expected.amount, isTyped: false }
  const reference = estimate?.reference_rate ?? null
  const best = wantedRate(advice, typedCost)
  const wanted = best?.rate ?? reference
  if (wanted === null) return null
  const rules = laneRules(advice.rules, { typedCost, expectedCost: expected, miles: estimate?.miles ?? null })
  const quotable = quotableRate(rules, wanted)
  const { low: floor, high: ceiling } = rules === null ? noLimits : limitsIn(rules)
  const at = (rate: number | null) => (rate === null ? null : valueAt(curve, rate, cost?.amount ?? null))
  const quote = at(quotable.rate)
  if (quote === null) return null
  const saferRate = best === null ? null : saferThan(quote.rate, best.zone.low, rules)
  return {
    quote,
    basis: quotable.from === 'best' ? (best?.basis ?? 'going') : quotable.from,
    changed: quotable.changed,
    safer: at(saferRate),
    going: at(reference === null ? null : Math.round(reference)),
    zone: best?.zone ?? null,
    cost,
    floor,
    ceiling,
    rules: rules === null ? [] : rulesInWords(rules),
  }
}

const noLimits = { low: null, high: null }

/**
 * The best rate, or the end of its zone that a running experiment suggests, and the rates that earn nearly as much; null without a
 * cost.
 */
function wantedRate(
  { estimate, curve = [], optimum }: Pick<Advice, 'estimate' | 'curve' | 'optimum'>,
  typedCost: number | null,
) {
  const reference = estimate?.reference_rate ?? null
  const suggested = optimum?.experiment
  if (typedCost !== null && reference !== null) {
    const best = bestOver(curve, reference, typedCost)
    if (!suggested) return { ...best, basis: 'best' as const }
    const { low, high } = best.zone
    return {
      ...best,
      rate: suggested.arm === 'low' ? Math.ceil(low) : Math.floor(high),
      basis: 'experiment' as const,
    }
  }
  if (!optimum) return null
  const zone = optimum.flat_zone
  return suggested
    ? { rate: suggested.rate, zone, basis: 'experiment' as const }
    : { rate: optimum.rate, zone, basis: 'best' as const }
}

/** The lower end of the zone as a rate within the rules; null if it is not below the rate to quote. */
function saferThan(quoted: number, zoneLow: number, rules: LaneRules | null): number | null {
  const { rate } = quotableRate(
    rules === null ? null : { ...rules, applied: { ...rules.applied, target: null } },
    zoneLow,
  )
  return rate < quoted ? rate : null
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
  /** It is above the maximum of the rules. */
  | 'high'

/** @example standingOf({ rate: 1900, margin: -161, ... }, pricing) // 'low' */
export function standingOf(typed: Pick<RateValue, 'rate' | 'margin'>, pricing: Pricing): Standing {
  const { floor, ceiling, zone, quote } = pricing
  if ((floor !== null && typed.rate < floor) || (typed.margin !== null && typed.margin < 0)) return 'low'
  if (ceiling !== null && typed.rate > ceiling) return 'high'
  if (Math.round(typed.rate) === Math.round(quote.rate)) return 'same'
  // The rules may move the rate to quote out of the zone.
  const isNear =
    zone === null ||
    (typed.rate >= Math.min(zone.low, quote.rate) && typed.rate <= Math.max(zone.high, quote.rate))
  return isNear ? 'near' : 'off'
}
