import type { Quote } from '#contract/quote.ts'
import { termsBehind } from '#engine/rate-basis.ts'
import { calendarDay, dollars, equipmentName, laneName, zonedMoment } from './formats.ts'
import { loadWords } from './load-mode.tsx'

/** The quotes of a request, as the text for the customer needs them. */
interface QuoteForCustomer {
  readonly customer_name: string
  readonly reference: string | null
  readonly lanes: readonly {
    readonly lane_ref: string
    readonly created_at: string
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    readonly quoted_rate: number
    readonly quoted_basis?: 'linehaul' | 'all_in' | null
    readonly quoted_currency?: 'USD' | 'CAD' | null
    readonly quoted_fuel?: number | null
    readonly quoted_accessorials?: number | null
    readonly quoted_charges?: readonly { readonly name: string; readonly amount: number }[] | null
    readonly mode?: Quote['mode']
    readonly stops?: Quote['stops']
    readonly pickup_date: string | null
    /** When the saved validity ends; null if none is saved. */
    readonly valid_until?: string | null
    readonly quoted_by?: { readonly user_id?: number; readonly name: string } | null
    /** Who quoted, as the system that pushed the quote states. */
    readonly rep_name?: string | null
  }[]
}

/** How long a quote is valid, in hours. Spot quotes expire within hours or days. */
const validities = [4, 24, 72, 168] as const
const usualValidityHours = 24

/** The validities to choose from, and the brokerage's usual one: its default expiry, or 24 hours. */
export function validityChoices(expiryDays: number | null): {
  readonly usual: number
  readonly choices: readonly { readonly hours: number; readonly label: string }[]
} {
  const usual = expiryDays === null ? usualValidityHours : expiryDays * 24
  const hours = [...new Set([...validities, usual])].sort((one, other) => one - other)
  return { usual, choices: hours.map((one) => ({ hours: one, label: validityLabel(one) })) }
}

/** @example validityLabel(72) // '3 days' */
function validityLabel(hours: number): string {
  return hours > 24 && hours % 24 === 0 ? `${hours / 24} days` : `${hours} hours`
}

/**
 * The newest quote for each load, in the order of the loads. A requote adds one.
 *
 * @example newestQuotes([{ lane_ref: '7-1-1' }, { lane_ref: '7-1-2' }]) // [{ lane_ref: '7-1-2' }]
 */
export function newestQuotes<Quote extends { readonly lane_ref: string }>(quotes: readonly Quote[]): Quote[] {
  const partsOf = ({ lane_ref }: Quote) => lane_ref.split('-').map(Number)
  const newest = new Map<number, Quote>()
  for (const quote of quotes.toSorted((one, other) => (partsOf(one)[2] ?? 0) - (partsOf(other)[2] ?? 0)))
    newest.set(partsOf(quote)[1] ?? 0, quote)
  return [...newest].sort(([one], [other]) => one - other).map(([, quote]) => quote)
}

const inZone = (moment: number) => zonedMoment(moment).replace(/:\d\d (?=[AP]M)/, ' ')

/**
 * The time at which a quote expires: the saved one, else by the brokerage's default; null without either. It has the time zone,
 * because the customer may be in another one.
 *
 * @param expiryDays the brokerage's default validity in days
 */
export function validUntil(
  quote: Pick<QuoteForCustomer['lanes'][number], 'valid_until' | 'created_at'>,
  expiryDays: number | null,
): string | null {
  const stored = quote.valid_until ?? null
  if (stored !== null) return inZone(Date.parse(stored))
  return expiryDays === null ? null : inZone(Date.parse(quote.created_at) + expiryDays * 86_400_000)
}

type QuotedRate = Pick<
  QuoteForCustomer['lanes'][number],
  | 'quoted_rate'
  | 'quoted_basis'
  | 'quoted_currency'
  | 'quoted_fuel'
  | 'quoted_accessorials'
  | 'quoted_charges'
>

/** The charges that the customer pays in addition to a linehaul rate, with their amounts. */
function chargesText({ quoted_fuel, quoted_accessorials, quoted_charges }: QuotedRate): string {
  const named = quoted_charges ?? []
  const charges = [
    ...((quoted_fuel ?? 0) > 0 ? [`fuel ${dollars(quoted_fuel ?? 0)}`] : []),
    ...named.map(({ name, amount }) => `${name} ${dollars(amount)}`),
    ...(named.length === 0 && (quoted_accessorials ?? 0) > 0
      ? [`accessorials ${dollars(quoted_accessorials ?? 0)}`]
      : []),
  ]
  return charges.length === 0 ? 'fuel and accessorials' : charges.join(', ')
}

const chargesOf = ({ quoted_fuel, quoted_accessorials }: QuotedRate) =>
  (quoted_fuel ?? 0) + (quoted_accessorials ?? 0)

/**
 * A rate with its terms. A linehaul rate also has its charges and the total that the customer will be billed.
 *
 * @example rateText({ quoted_rate: 2150, quoted_basis: 'linehaul', quoted_fuel: 350, quoted_currency: 'CAD' })
 * // '$2,150 CAD linehaul, plus fuel $350; $2,500 CAD in total'
 */
export function rateText(rate: QuotedRate): string {
  const { quoted_rate, quoted_basis = null, quoted_currency = null } = rate
  const terms = termsBehind({ basis: quoted_basis, currency: quoted_currency })
  if (quoted_basis !== 'linehaul') return `${dollars(quoted_rate)}${terms}`
  const charges = chargesOf(rate)
  const total =
    charges === 0
      ? ''
      : `; ${dollars(cents(quoted_rate + charges))}${termsBehind({ basis: null, currency: quoted_currency })} in total`
  return `${dollars(quoted_rate)}${terms}, plus ${chargesText(rate)}${total}`
}

const cents = (amount: number) => Math.round(amount * 100) / 100

/** The mode and the stops of a load, if it is no direct truckload. */
function loadLine({ mode = null, stops = [] }: QuoteForCustomer['lanes'][number]): string[] {
  const words = loadWords({ mode, stops })
  return words === null ? [] : [`  ${words}`]
}

/** Who sends the text: the brokerage, with what holds for quotes without their own basis or validity, and the signed-in person. */
interface Sender {
  readonly tenant: {
    readonly name: string
    readonly default_basis: 'linehaul' | 'all_in'
    readonly quote_expiry: { readonly valid_days: number | null }
  }
  readonly user: { readonly id: number; readonly phone: string | null }
}

/** The rep of all quotes, with the phone of the person who sends their own; nobody if several reps made them, or if none is known. */
function repOf(quotes: QuoteForCustomer['lanes'], { id, phone }: Sender['user']): readonly string[] {
  const isOwn = phone !== null && quotes.every(({ quoted_by }) => quoted_by?.user_id === id)
  const reps = [...new Set(quotes.map(({ quoted_by, rep_name }) => quoted_by?.name ?? rep_name ?? null))]
  return reps.length === 1 && reps[0] != null ? [reps[0], ...(isOwn ? [phone] : [])] : []
}

/**
 * The text of an e-mail to the customer: a subject, then lane, equipment, rate with what it includes, pickup, validity and reference,
 * and the rep. It contains nothing that only the brokerage may know, such as cost, margin or chance.
 */
export function emailText(
  request: QuoteForCustomer,
  { tenant: { name: brokerage, default_basis, quote_expiry }, user }: Sender,
): string {
  const { customer_name, reference } = request
  const { valid_days: expiryDays } = quote_expiry
  const quotes = request.lanes.map((quote) => ({
    ...quote,
    quoted_basis: quote.quoted_basis ?? default_basis,
  }))
  const [only] = quotes.length === 1 ? quotes : []
  const subject =
    only === undefined
      ? `${quotes.length} quotes from ${brokerage}`
      : `Quote from ${brokerage}: ${laneName(only.origin, only.destination)}`
  const ends = quotes.map((quote) => validUntil(quote, expiryDays))
  const sameValidity = ends.every((end) => end === ends[0])
  const lines = quotes.flatMap((quote, nth) => [
    `${laneName(quote.origin, quote.destination)}, ${equipmentName(quote.equipment)}: ${rateText(quote)}`,
    ...loadLine(quote),
    ...(quote.pickup_date === null ? [] : [`  Pickup ${calendarDay(quote.pickup_date)}`]),
    ...(sameValidity || ends[nth] == null ? [] : [`  Valid until ${ends[nth]}`]),
    `  Our reference ${quote.lane_ref}`,
  ])
  // Amounts in two currencies, or with unknown charges, have no sum.
  const isSummed = quotes.every(
    (quote) =>
      (quote.quoted_currency ?? 'USD') === (quotes[0]?.quoted_currency ?? 'USD') &&
      (quote.quoted_basis !== 'linehaul' || chargesOf(quote) > 0),
  )
  const total = quotes.reduce(
    (sum, quote) => sum + quote.quoted_rate + (quote.quoted_basis === 'linehaul' ? chargesOf(quote) : 0),
    0,
  )
  const currency = termsBehind({ basis: null, currency: quotes[0]?.quoted_currency ?? null })
  return [
    `Subject: ${subject}`,
    '',
    `${only === undefined ? 'Quotes' : 'Quote'} for ${customer_name}`,
    ...(reference === null ? [] : [`Your reference: ${reference}`]),
    '',
    ...lines,
    ...(quotes.length === 1 || !isSummed ? [] : [`Total: ${dollars(cents(total))}${currency}`]),
    '',
    ...(sameValidity && ends[0] != null ? [`Valid until ${ends[0]}.`, ''] : []),
    ...repOf(quotes, user),
    brokerage,
  ].join('\n')
}
