import type { Answer } from '../api/index.ts'
import { type QuoteAdvice, readCurve } from '../shared-ui/index.ts'
import { changedInWords, type DeskAppraisal, deskAppraisal, rulesInWords } from './desk-appraisal.ts'

type Advice = Answer<'quote-advice'>

/** The service's advice on exactly the quote as typed, which its row shows, too; null until it has arrived. */
type ExactAdvice = Pick<QuoteAdvice, 'rate' | 'estimate' | 'optimum' | 'rules'> | null

/** The value of a rate, read from the loaded curve, so that typing needs no request. */
export interface RateValue {
  readonly rate: number
  readonly chance: number
  readonly interval80: { readonly low: number; readonly high: number }
  /** Set when the chance is only known from the nearest end of the curve, because the rate is outside of it. */
  readonly beyond: 'below' | 'above' | null
  /** The margin and the worth are null when no truck cost is known. */
  readonly margin: number | null
  readonly marginPct: number | null
  /**
   * The chance times the margin: the average earnings of a quote at this rate. Null above the curve, because the chance at its end
   * is only an upper limit there: $9,000 would seem to be worth more than the best rate.
   */
  readonly worth: number | null
}

/** The rates for a quote, each with its value. */
export interface Pricing {
  /**
   * The rate to quote: the rate with the best expected margin, or else the going rate, or the target of the rules, within their
   * limits and rounded.
   */
  readonly quote: RateValue
  readonly basis: 'best' | 'going' | 'target' | 'minimum' | 'maximum'
  /** The changes of the rate to quote by the rules, in words; empty without changes. */
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

function valueAt(
  { curve = [] }: Pick<Advice, 'curve'>,
  rate: number,
  cost: number | null,
  exact: ExactAdvice,
): RateValue | null {
  const reading = readCurve(curve, rate)
  if (reading === null) return null
  const stated = exact?.rate === rate ? exact.estimate : null
  const margin = cost === null ? null : Math.round((rate - cost) * 100) / 100
  return {
    rate,
    chance: stated?.probability ?? reading.probability,
    interval80: stated?.interval_80 ?? reading.interval80,
    beyond: stated?.probability == null ? reading.beyond : null,
    margin,
    marginPct: margin === null ? null : (margin / rate) * 100,
    worth: margin === null || reading.beyond === 'above' ? null : reading.probability * margin,
  }
}

/**
 * The rates for a quote from its advice. An entered cost replaces the expected one: the best rate is then found on the loaded
 * curve, without a request, until the service's own answer has arrived. Null when there is no curve, or neither a cost nor a going rate.
 */
export function pricingOf(
  advice: Pick<Advice, 'estimate' | 'curve' | 'optimum' | 'rules'>,
  typedCost: number | null,
  exact: ExactAdvice = null,
): Pricing | null {
  const { estimate } = advice
  const expected = estimate?.expected_cost ?? null
  const cost =
    typedCost !== null
      ? { amount: typedCost, isTyped: true }
      : expected === null
        ? null
        : { amount: expected.amount, isTyped: false }
  const appraisal = deskAppraisal(
    exact === null ? advice : { estimate: exact.estimate, optimum: exact.optimum, rules: exact.rules },
    typedCost,
  )
  const { toQuote, safer } = appraisal.rates
  const at = (rateCents: number | null | undefined) =>
    rateCents == null ? null : valueAt(advice, rateCents / 100, cost?.amount ?? null, exact)
  const quote = at(toQuote?.rateCents)
  if (quote === null || toQuote === null) return null
  const reference = estimate?.reference_rate ?? null
  const { optimum } = appraisal
  return {
    quote,
    basis: basisOf(appraisal, toQuote.from),
    changed: changedInWords(appraisal, toQuote),
    safer: at(safer?.rateCents),
    going: at(reference === null ? null : 100 * Math.round(reference)),
    zone:
      optimum === null
        ? null
        : { low: optimum.flatZone.lowCents / 100, high: optimum.flatZone.highCents / 100 },
    cost,
    ...limitsOfRules(appraisal),
    rules: advice.rules === undefined ? [] : rulesInWords(appraisal),
  }
}

function basisOf(
  { optimum }: DeskAppraisal,
  from: NonNullable<DeskAppraisal['rates']['toQuote']>['from'],
): Pricing['basis'] {
  if (from !== 'best') return from
  return optimum === null ? 'going' : 'best'
}

/** The lowest and the highest rate that the rules allow, in dollars; null without such a limit. */
function limitsOfRules({
  applied: { minimum, maximum, contradicts },
}: DeskAppraisal): Pick<Pricing, 'floor' | 'ceiling'> {
  const amount = (rateCents: number | null | undefined) => (rateCents == null ? null : rateCents / 100)
  return { floor: amount(minimum?.rateCents), ceiling: contradicts ? null : amount(maximum?.rateCents) }
}

/** The value of a typed rate; null without a rate. */
export function typedValue(
  advice: Pick<Advice, 'curve'>,
  { cost }: Pick<Pricing, 'cost'>,
  rate: number | null,
  exact: ExactAdvice = null,
): RateValue | null {
  return rate === null ? null : valueAt(advice, rate, cost?.amount ?? null, exact)
}

/** How a typed rate compares with the rate to quote. */
export type Standing =
  /** The rate to quote, to the dollar. */
  | 'same'
  /** A rate that earns nearly as much, or has no cost to compare by. */
  | 'near'
  /** A rate outside of the range that is nearly as good. */
  | 'off'
  /** A rate below the floor or the cost. */
  | 'low'
  /** A rate above the maximum of the rules. */
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
