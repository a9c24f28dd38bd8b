import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import { dateTerms } from './date-terms.ts'
import { headerTerms } from './header-terms.ts'
import {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  foldedInAll,
  type ImportFieldName,
  nameLengthMax,
} from './import-fields.ts'

const byName = (
  names: Readonly<Partial<Record<ImportFieldName, readonly string[]>>>,
): (readonly [string, ImportFieldName])[] =>
  (Object.keys(names) as ImportFieldName[]).flatMap((field) =>
    (names[field] ?? []).flatMap(foldedInAll).map((name) => [name, field] as const),
  )

/** Ambiguous names that are read as this field when no other column has it. The person who imports the file can change it. */
export const guessedHeaders: ReadonlyMap<string, ImportFieldName> = new Map(
  byName({
    origin: ['Pickup', 'PU'],
    destination: ['Delivery'],
    equipment: ['Type'],
    quoted_rate: ['Price'],
    customer_name: ['Shipper'],
  }),
)

const shortWords: Readonly<Record<string, string>> = {
  amt: 'amount',
  carr: 'carrier',
  cust: 'customer',
  dt: 'date',
  eqpt: 'equipment',
  nm: 'name',
  pkup: 'pickup',
  qtd: 'quoted',
  trlr: 'trailer',
}

/** The field of a name whose words are written short. Such a name is a guess. @example fieldOfShortName('Cust Nm') // 'customer_name' */
export function fieldOfShortName(header: string): ImportFieldName | undefined {
  if (header.length > nameLengthMax) return undefined
  const words = header.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  if (!words.some((word) => Object.hasOwn(shortWords, word))) return undefined
  return fieldOfHeader.get(foldedHeader(words.map((word) => shortWords[word] ?? word).join(' ')))
}

/** As `guessedHeaders`, for pasted rows: their rates are rates to quote, and a person looks at each row before it is saved. */
export const guessedInPastes: typeof guessedHeaders = new Map([
  ...guessedHeaders,
  ...byName({
    quoted_rate: ['Rate', 'Amount', 'Total', 'Flat Rate', 'All In', 'All In Rate', 'Target Rate', 'Target'],
    truck_cost: ['Cost'],
    pickup_date: ['Date'],
    destination: ['Consignee'],
  }),
])

/**
 * The field that an unknown column may have, by a word in its name: a status, or a cancellation. It is never matched, because
 * its values decide which quotes count as lost.
 *
 * @example statusLike('load_was_cancelled') // 'cancelled'
 */
export function statusLike(header: string): 'outcome' | 'cancelled' | null {
  const words = header
    .slice(0, nameLengthMax)
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
  if (/\b(at|on|date|time|reason|by|fee|cost|charge)\b/.test(words)) return null
  if (/\b(is|was)?\s?(cancell?ed|cancellation|voided|void)\b/.test(words)) return 'cancelled'
  return /\b(status|outcome|result|stage|disposition|state of quote)\b/.test(words) ? 'outcome' : null
}

/** The fields of amounts and of charges by name. */
export const amountFields: ReadonlySet<string> = new Set([
  ...quoteFieldsOf('file')
    .map((field) => quoteTable[field])
    .flatMap(({ sent, unit }) => (isAmountUnit(unit) || unit === 'charges' ? sent : [])),
  ...sentBookingFields.flatMap((field) =>
    ['cents', 'charges'].includes(bookingTable[field].unit) ? bookingTable[field].sent : [],
  ),
])

const amountNames: ReadonlySet<string> = new Set([
  ...[...fieldOfHeader].flatMap(([name, field]) => (amountFields.has(field) ? name : [])),
  ...[...ambiguousHeaders].flatMap(([name, fields]) =>
    fields.some((field) => amountFields.has(field)) ? name : [],
  ),
])
/** A quick check before the currency of a name is looked for: every cell above a table is compared with the names. */
const mayStateCurrency =
  /\p{Sc}|(?<!\p{L})\p{L}{3}(?!\p{L})|dollar|peso|pound|euro|sterling|yen|yuan|renminbi|rupee/iu

/** The fields that can date a quote, best first. */
export const dateFields = ['quoted_at', 'booked_at', 'decided_at', 'pickup_date'] as const

/** The fields of a file with dates in their cells. */
export const datedFields = [...dateFields, 'updated_at'] as const

const isDated = (field: string) => datedFields.some((one) => one === field)
const dateNames: ReadonlySet<string> = new Set([
  ...[...fieldOfHeader].flatMap(([name, field]) => (isDated(field) ? name : [])),
  ...[...ambiguousHeaders].flatMap(([name, fields]) => (fields.some(isDated) ? name : [])),
])

/** Whether a name ends with # and is no amount: "Quote #" is the number of a quote, not a rate. */
function isNumberOf(header: string, folded: string): boolean {
  return header.trimEnd().endsWith('#') && (amountNames.has(folded) || fieldOfHeader.has(`${folded}number`))
}

/**
 * The folded name by which a column is looked up. The name of an amount is looked up without its currency, and that of a date without its
 * zone and its form.
 *
 * @example lookedUpName('Sell Rate (CAD)') // 'sellrate'
 * @example lookedUpName('Customer CAD') // 'customercad'
 * @example lookedUpName('Quote #') // 'quotenumber'
 * @example lookedUpName('Quote Date (UTC)') // 'quotedate'
 */
export function lookedUpName(header: string): string {
  const folded = foldedHeader(header)
  if (isNumberOf(header, folded)) return `${folded}number`
  const dated = foldedHeader(dateTerms(header).name)
  if (dated !== folded && dateNames.has(dated)) return dated
  if (amountNames.has(folded) || !mayStateCurrency.test(header)) return folded
  const bare = foldedHeader(headerTerms(header).name)
  return amountNames.has(bare) ? bare : folded
}

/**
 * The number of different cells that are known column names, unambiguous or ambiguous.
 *
 * @example knownNames(['Origin', 'Rate', 'Our Own Name']) // 2
 */
export function knownNames(cells: readonly string[]): number {
  const names = cells.map(lookedUpName)
  return new Set(names.filter((name) => fieldOfHeader.has(name) || ambiguousHeaders.has(name))).size
}
