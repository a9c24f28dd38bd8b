import { termsBehind } from '#engine/rate-basis.ts'
import { dollars, equipmentName, laneName, zonedMoment } from '../shared-ui/index.ts'

/** The lanes of a quote, as the text for the customer needs them. */
interface QuoteForCustomer {
  readonly customer_name: string
  readonly reference: string | null
  readonly created_at: string
  readonly lanes: readonly {
    readonly lane_ref: string
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    readonly quoted_rate: number
    readonly quoted_basis?: 'linehaul' | 'all_in' | null
    readonly quoted_currency?: 'USD' | 'CAD' | null
    readonly pickup_date: string | null
  }[]
}

/** How long a quote is valid, in hours. Spot quotes expire within hours or days. */
export const validities = [
  { hours: 4, label: '4 hours' },
  { hours: 24, label: '24 hours' },
  { hours: 72, label: '3 days' },
  { hours: 168, label: '7 days' },
] as const
export const usualValidityHours = 24

/**
 * The newest quote of each lane, in the order of the lanes. The answer to a counter-offer adds one.
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

/** The end of a quote's validity, with the time zone, because the customer may be in another one. */
export function validUntil(createdAt: string, hours: number): string {
  return zonedMoment(Date.parse(createdAt) + hours * 3_600_000).replace(/:\d\d (?=[AP]M)/, ' ')
}

type QuotedRate = Pick<QuoteForCustomer['lanes'][number], 'quoted_rate' | 'quoted_basis' | 'quoted_currency'>

const saysMore = ({ quoted_basis, quoted_currency }: QuotedRate) =>
  quoted_basis === 'linehaul' || quoted_currency === 'CAD'

/**
 * @example rateText({ quoted_rate: 2150, quoted_basis: 'linehaul', quoted_currency: 'CAD' })
 * // '$2,150 CAD linehaul, plus fuel and accessorials'
 */
export function rateText({ quoted_rate, quoted_basis = null, quoted_currency = null }: QuotedRate): string {
  const terms = termsBehind({ basis: quoted_basis, currency: quoted_currency })
  return `${dollars(quoted_rate)}${terms}${quoted_basis === 'linehaul' ? ', plus fuel and accessorials' : ''}`
}

/**
 * The text of an e-mail to the customer: a subject, then lane, equipment, rate, validity and reference. It contains nothing
 * that only the brokerage may know, such as cost, margin or chance.
 */
export function emailText(
  { customer_name, reference, created_at, lanes }: QuoteForCustomer,
  brokerage: string,
  validHours: number,
): string {
  const [only] = lanes.length === 1 ? lanes : []
  const subject =
    only === undefined
      ? `Quote from ${brokerage}: ${lanes.length} lanes`
      : `Quote from ${brokerage}: ${laneName(only.origin, only.destination)}`
  const lines = lanes.flatMap((lane) => [
    `${laneName(lane.origin, lane.destination)}, ${equipmentName(lane.equipment)}: ${rateText(lane)}`,
    ...(lane.pickup_date === null ? [] : [`  Pickup ${lane.pickup_date}`]),
    `  Our reference ${lane.lane_ref}`,
  ])
  const total = lanes.reduce((sum, { quoted_rate }) => sum + quoted_rate, 0)
  return [
    `Subject: ${subject}`,
    '',
    `Quote for ${customer_name}`,
    ...(reference === null ? [] : [`Your reference: ${reference}`]),
    '',
    ...lines,
    ...(lanes.length === 1 || lanes.some(saysMore)
      ? []
      : [`Total: ${dollars(Math.round(total * 100) / 100)}`]),
    '',
    `Valid until ${validUntil(created_at, validHours)}.`,
    '',
    brokerage,
  ].join('\n')
}
