import type { Lane } from '#contract/lane.ts'
import { type RateBasis, termsBehind } from '#engine/rate-basis.ts'
import { type AmountTerms, amountTerms } from './amount-terms.ts'
import { dollars, equipmentName, laneName, zonedMoment } from './formats.ts'
import { modeNames } from './load-mode.tsx'

type QuotedTerms = Parameters<typeof amountTerms<'quoted'>>[0]

/** The lanes of a quote, as the text for the customer needs them. */
interface QuoteForCustomer {
  readonly customer_name: string
  readonly reference: string | null
  readonly lanes: readonly (QuotedTerms & {
    readonly lane_ref: string
    readonly created_at: string
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    readonly quoted_rate: number
    readonly pickup_date: string | null
    /** When the stored validity ends; null if none is stored. */
    readonly valid_until?: string | null
    readonly mode?: Lane['mode']
    readonly stops?: readonly string[]
    readonly quoted_by?: { readonly name: string } | null
  })[]
}

/** How long a quote is valid, in hours. Spot quotes expire within hours or days. */
const validities = [4, 24, 72, 168] as const
const usualValidityHours = 24

/** The choices of how long a quote is valid, with the usual one of the brokerage, which is its default expiry or 24 hours. */
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

const inZone = (moment: number) => zonedMoment(moment).replace(/:\d\d (?=[AP]M)/, ' ')

/**
 * The end of a quote's validity, with the time zone, because the customer may be in another one: as it is stored, else by the default of
 * the brokerage; null without either. The quote expires at this time.
 *
 * @param expiryDays days after which the brokerage lets a quote expire that says nothing
 */
export function validUntil(
  lane: Pick<QuoteForCustomer['lanes'][number], 'valid_until' | 'created_at'>,
  expiryDays: number | null,
): string | null {
  const stored = lane.valid_until ?? null
  if (stored !== null) return inZone(Date.parse(stored))
  return expiryDays === null ? null : inZone(Date.parse(lane.created_at) + expiryDays * 86_400_000)
}

type QuotedRate = QuotedTerms & { readonly quoted_rate: number }

/** The charges of a linehaul rate with their amounts: the customer pays them beside the rate. */
function chargesText({ fuel, accessorials, charges }: AmountTerms): string {
  const named = charges ?? []
  const shown = [
    ...((fuel ?? 0) > 0 ? [`fuel ${dollars(fuel ?? 0)}`] : []),
    ...named.map(({ name, amount }) => `${name} ${dollars(amount)}`),
    ...(named.length === 0 && (accessorials ?? 0) > 0 ? [`accessorials ${dollars(accessorials ?? 0)}`] : []),
  ]
  return shown.length === 0 ? 'fuel and accessorials' : shown.join(', ')
}

function chargesOf(rate: QuotedRate): number {
  const { fuel, accessorials } = amountTerms(rate, 'quoted')
  return (fuel ?? 0) + (accessorials ?? 0)
}

/**
 * A rate with what it includes: a linehaul rate with its charges and their sum, which is what the customer will be billed.
 *
 * @example rateText({ quoted_rate: 2150, quoted_basis: 'linehaul', quoted_fuel: 350, quoted_currency: 'CAD' })
 * // '$2,150 CAD linehaul, plus fuel $350; $2,500 CAD in total'
 */
export function rateText(rate: QuotedRate): string {
  const { quoted_rate } = rate
  const included = amountTerms(rate, 'quoted')
  const { basis, currency } = included
  const terms = termsBehind({ basis, currency })
  if (basis !== 'linehaul') return `${dollars(quoted_rate)}${terms}`
  const charges = chargesOf(rate)
  const total =
    charges === 0
      ? ''
      : `; ${dollars(cents(quoted_rate + charges))}${termsBehind({ basis: null, currency })} in total`
  return `${dollars(quoted_rate)}${terms}, plus ${chargesText(included)}${total}`
}

const cents = (amount: number) => Math.round(amount * 100) / 100

/** The brokerage that quotes: its name, and what holds for quotes that do not say their validity or basis. */
interface QuotingBrokerage {
  readonly name: string
  readonly quote_expiry: { readonly valid_days: number | null }
  readonly default_basis: RateBasis
}

/** Equipment, and what else the customer asked for: a mode other than a truckload. */
function loadText({ equipment, mode }: QuoteForCustomer['lanes'][number]): string {
  const other = (mode ?? 'truckload') === 'truckload' ? '' : `, ${modeNames[mode ?? 'truckload']}`
  return `${equipmentName(equipment)}${other}`
}

/** The quotes with the basis of the brokerage where they say none. */
function withBasis({ lanes }: Pick<QuoteForCustomer, 'lanes'>, { default_basis: basis }: QuotingBrokerage) {
  return lanes.map((lane) => ({ ...lane, quoted_basis: lane.quoted_basis ?? basis }))
}

/** The rep of all quotes; null if several reps made them, or none is known. */
function repOf({ lanes }: Pick<QuoteForCustomer, 'lanes'>): string | null {
  const reps = new Set(lanes.map(({ quoted_by }) => quoted_by?.name ?? null))
  const [rep = null] = reps.size === 1 ? reps : []
  return rep
}

/** The lines of the quotes: lane, equipment, rate with what it includes, reference, total and validity. */
function quoteLines(request: Pick<QuoteForCustomer, 'lanes'>, brokerage: QuotingBrokerage): string[] {
  const lanes = withBasis(request, brokerage)
  const ends = lanes.map((lane) => validUntil(lane, brokerage.quote_expiry.valid_days))
  const sameValidity = ends.every((end) => end === ends[0])
  const lines = lanes.flatMap((lane, nth) => [
    `${laneName(lane.origin, lane.destination)}, ${loadText(lane)}: ${rateText(lane)}`,
    ...((lane.stops ?? []).length === 0 ? [] : [`  Stops: ${(lane.stops ?? []).join('; ')}`]),
    ...(lane.pickup_date === null ? [] : [`  Pickup ${lane.pickup_date}`]),
    ...(sameValidity || ends[nth] == null ? [] : [`  Valid until ${ends[nth]}`]),
    `  Our reference ${lane.lane_ref}`,
  ])
  // Amounts in two currencies, or without charges that are not known, have no sum.
  const isSummed = lanes.every(
    (lane) =>
      (lane.quoted_currency ?? 'USD') === (lanes[0]?.quoted_currency ?? 'USD') &&
      (lane.quoted_basis !== 'linehaul' || chargesOf(lane) > 0),
  )
  const total = lanes.reduce(
    (sum, lane) => sum + lane.quoted_rate + (lane.quoted_basis === 'linehaul' ? chargesOf(lane) : 0),
    0,
  )
  const currency = termsBehind({ basis: null, currency: lanes[0]?.quoted_currency ?? null })
  return [
    ...lines,
    ...(lanes.length === 1 || !isSummed ? [] : [`Total: ${dollars(cents(total))}${currency}`]),
    ...(sameValidity && ends[0] != null ? ['', `Valid until ${ends[0]}.`] : []),
  ]
}

/**
 * The text of an e-mail to the customer: a subject, then lane, equipment, rate with what it includes, validity and reference, and the rep's
 * name. It contains nothing that only the brokerage may know, such as cost, margin or chance.
 */
export function emailText(request: QuoteForCustomer, brokerage: QuotingBrokerage): string {
  const { customer_name, reference, lanes } = request
  const [only] = lanes.length === 1 ? lanes : []
  const subject =
    only === undefined
      ? `Quote from ${brokerage.name}: ${lanes.length} lanes`
      : `Quote from ${brokerage.name}: ${laneName(only.origin, only.destination)}`
  const rep = repOf(request)
  return [
    `Subject: ${subject}`,
    '',
    `Quote for ${customer_name}`,
    ...(reference === null ? [] : [`Your reference: ${reference}`]),
    '',
    ...quoteLines(request, brokerage),
    '',
    ...(rep === null ? [] : [rep]),
    brokerage.name,
  ].join('\n')
}

/** The text of an answer to a mail, unless the brokerage sets another. */
export const usualTemplate = 'Hi {name},\n\n{quotes}\n\n{rep}\n{brokerage}'

/**
 * The draft of an answer to a mail: the template of the brokerage with the quotes as they are stored, so that no amount and no time in it is
 * of anything else. A sender without a name is left out with the line of its greeting.
 *
 * @param who the name of the sender, and of the person who answers
 * @example answerDraft({ lanes: [] }, brokerage, { sender: 'Dana Hill', rep: 'Ana' }) // 'Hi Dana,\n\nAna\nMeridian Fox Freight'
 */
export function answerDraft(
  request: Pick<QuoteForCustomer, 'lanes'>,
  brokerage: QuotingBrokerage & { readonly answer_template: string | null },
  { sender, rep }: { readonly sender: string; readonly rep: string },
): string {
  const [name = ''] = sender.trim().split(/[\s,]/)
  const values: Readonly<Record<string, string>> = {
    name,
    quotes: request.lanes.length === 0 ? '' : quoteLines(request, brokerage).join('\n'),
    rep,
    brokerage: brokerage.name,
  }
  return (brokerage.answer_template ?? usualTemplate)
    .split('\n')
    .filter((line) => name !== '' || !line.includes('{name}'))
    .join('\n')
    .replaceAll(/\{(name|quotes|rep|brokerage)\}/g, (_, key: string) => values[key] ?? '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/**
 * The draft of a follow-up on a pending quote: the quote as it is stored, and a question. No amount and no time in it is of anything else.
 *
 * @param rep the name of the person who follows up
 */
export function followUpDraft(
  lane: QuoteForCustomer['lanes'][number],
  brokerage: QuotingBrokerage,
  rep: string,
): string {
  return [
    'Hi,',
    '',
    'Did you have a chance to look at our quote?',
    '',
    ...quoteLines({ lanes: [lane] }, brokerage),
    '',
    'Does the rate work for you? If not, please tell me what would.',
    '',
    rep,
    brokerage.name,
  ].join('\n')
}
