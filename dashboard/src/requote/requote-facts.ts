import type { Quote } from '#contract/quote.ts'
import { type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import type { Body } from '../api/index.ts'
import {
  adviceOn,
  knownFields,
  noTerms,
  type PricedQuote,
  type RateTerms,
  type Reason,
  readDollars,
  readFields,
  saysTerms,
  type TypedQuote,
  termsFields,
} from '../shared-ui/index.ts'

/** The fields of a requote, as typed. */
export interface TypedRequote extends RateTerms, Pick<TypedQuote, 'rate' | 'cost'> {
  /** The rate that the customer named instead of the last quote; empty without a counter-offer. */
  readonly named: string
  /** The hours that the rate is valid; absent while nobody chose. */
  readonly validHours?: number
  /** Why the load is lost, if the counter-offer is declined. */
  readonly reason: Reason
}

export const nothingTyped: TypedRequote = { named: '', rate: '', cost: '', ...noTerms, reason: 'price' }

/** The values read from a typed requote. Amounts are dollars on the requote's terms; null while they cannot be read. */
export interface ReadRequote {
  readonly counterRate: number | null
  readonly rate: number | null
  /** Whether anything was typed as the rate. */
  readonly isRateTyped: boolean
  readonly cost: number | null
  readonly terms: RateTerms
}

/**
 * Reads a requote. A counter-offer is below the last quote, and is answered on its terms with a rate between the two.
 *
 * @example readRequote(quotedAt2500, { ...nothingTyped, named: '2,100', rate: '2,300' }) // counterRate 2100, rate 2300
 */
export function readRequote(
  { quoted_rate: last }: Pick<Quote, 'quoted_rate'>,
  typed: TypedRequote,
): ReadRequote {
  const [named, rate] = [readDollars(typed.named), readDollars(typed.rate)]
  const counterRate = named !== null && named < last ? named : null
  const isBetween = rate !== null && (counterRate === null || (rate > counterRate && rate < last))
  return {
    counterRate,
    rate: isBetween ? rate : null,
    isRateTyped: typed.rate.trim() !== '',
    cost: readDollars(typed.cost),
    terms: typed.named.trim() === '' ? typed : noTerms,
  }
}

/**
 * The quote as it would be made again: it keeps cost and terms, unless others are typed. The service applies the same rule.
 *
 * @param assumed the basis of rates that state none
 */
function requoted(quote: Quote, { rate, cost, terms }: ReadRequote, assumed: RateBasis): PricedQuote {
  const said = knownFields(readFields(terms, termsFields))
  const last = { basis: quote.quoted_basis, currency: quote.quoted_currency }
  const next = { basis: said.quoted_basis ?? last.basis, currency: said.quoted_currency ?? last.currency }
  const none = { quoted_fuel: null, quoted_accessorials: null, quoted_charges: null }
  return {
    ...quote,
    // Stated charges replace all earlier ones.
    ...(saysTerms(terms) ? none : {}),
    ...said,
    quoted_rate: rate,
    // The earlier cost is on the earlier basis and in the earlier currency.
    estimated_cost: cost ?? (sameTerms(next, last, assumed) ? quote.estimated_cost : null),
  }
}

/**
 * The request for advice on a requote at the typed rate, or without one at a rate that the service suggests. With a counter-offer,
 * a second quote is at the rate that the customer named.
 */
export function requoteAdvice(quote: Quote, read: ReadRequote, assumed: RateBasis): Body<'advise-quotes'> {
  const next = requoted(quote, read, assumed)
  const { counterRate } = read
  if (counterRate === null) return adviceOn(quote.quoted_customer_name, [next])
  const body = adviceOn(quote.quoted_customer_name, [next, { ...next, quoted_rate: counterRate }])
  const counter_offer = { refused_rate: quote.quoted_rate, counter_rate: counterRate }
  return { ...body, lanes: body.lanes.map((asked) => ({ ...asked, counter_offer })) }
}

/** The requote at a rate in the form of the API. */
export function requoteBody(
  { counterRate, cost, terms }: ReadRequote,
  rate: number,
  validHours: number,
): Body<'requote'> {
  return {
    quoted_rate: rate,
    ...(counterRate === null ? {} : { counter_rate: counterRate }),
    ...(cost === null ? {} : { estimated_cost: cost }),
    ...knownFields(readFields(terms, termsFields)),
    valid_hours: validHours,
  }
}
