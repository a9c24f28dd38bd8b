import type { bookedFields, changedQuoteFields } from '#contract/events.ts'
import type { Quote } from '#contract/quote.ts'
import { type BookingUnit, bookingTable } from '#engine/booking-fields.ts'
import { isAmountUnit, type QuoteUnit, quoteTable } from '#engine/quote-fields.ts'
import { basisWords } from '#engine/rate-basis.ts'
import type { Answer } from '../api/index.ts'
import {
  calendarDay,
  count,
  dollarsIn,
  labelsReadAs,
  modeNames,
  moment,
  outcomeNames,
  rateTypeNames,
  reasonNames,
  sourceNames,
  sourcePhrases,
} from '../shared-ui/index.ts'

export type Change = Answer<'list-changes'>['changes'][number]
/** A value in the history, or of the quote as it is answered, where charges are a list. */
type Value = Change['before'][string] | Quote['quoted_charges']

const bookingNames: Readonly<Record<(typeof bookedFields)[number], string>> = {
  customer_rate: 'Customer rate (AR)',
  truck_cost: 'Truck cost (AP)',
  customer_name: 'Customer as booked',
  carrier_name: 'Carrier',
  carrier_notes: 'MC',
  booked_at: 'Booked',
  customer_basis: 'Customer rate includes',
  customer_fuel: 'Fuel of the customer rate',
  customer_accessorials: 'Accessorials of the customer rate',
  customer_charges: 'Charges of the customer rate',
  customer_currency: 'Currency of the customer rate',
  truck_basis: 'Truck cost includes',
  truck_fuel: 'Fuel of the truck cost',
  truck_accessorials: 'Accessorials of the truck cost',
  truck_charges: 'Charges of the truck cost',
  truck_currency: 'Currency of the truck cost',
  cancelled_at: 'Booking cancelled',
  cancel_reason: 'Cancellation reason',
}

const quoteNames: Readonly<Record<(typeof changedQuoteFields)[number], string>> = {
  ...labelsReadAs,
  quoted_customer_name: 'Customer on the quote',
  quoted_rate: 'Quoted rate',
  estimated_cost: 'Estimated cost',
  quoted_basis: 'Quoted rate includes',
  quoted_fuel: 'Fuel of the quoted rate',
  quoted_accessorials: 'Accessorials of the quoted rate',
  quoted_charges: 'Charges of the quoted rate',
  quoted_currency: 'Currency of the quoted rate',
  counter_rate: 'Counter-offer of the customer',
  quoted_at: 'Quoted',
  rep_name: 'Rep',
  valid_until: 'Valid until',
  voided_at: 'Voided',
  void_reason: 'Reason for voiding',
  superseded_by: 'Superseded by',
}

const otherNames = {
  truck_cost_source: 'Truck cost source',
  outcome: 'Outcome',
  outcome_reason: 'Reason',
  outcome_source: 'Outcome source',
  decided_at: 'Decided',
}

const fieldNames: Readonly<Record<string, string>> = { ...bookingNames, ...quoteNames, ...otherNames }

type Unit = QuoteUnit | BookingUnit | 'outcome' | 'reason' | 'source'
type TableName = (typeof quoteTable)[keyof typeof quoteTable]['shown'] | keyof typeof bookingNames
/** The units of the fields of the history that are in no table. */
const otherUnits: Readonly<
  Record<Exclude<keyof typeof quoteNames | keyof typeof otherNames, TableName>, Unit>
> = {
  truck_cost_source: 'source',
  outcome: 'outcome',
  outcome_reason: 'reason',
  outcome_source: 'source',
  decided_at: 'time',
  voided_at: 'time',
  void_reason: 'text',
  superseded_by: 'text',
}

const units = new Map<string, Unit>([
  ...[...Object.values(quoteTable), ...Object.values(bookingTable)].map(({ shown, unit }): [string, Unit] => [
    shown,
    unit,
  ]),
  ...Object.entries(otherUnits),
])

const named = (names: Readonly<Record<string, string>>) => (value: unknown) =>
  names[String(value)] ?? String(value)
const amount = (value: unknown, currency: string | null) => dollarsIn(Number(value), currency)

/** The fields with the currencies of amounts. */
const currencyFields = new Map<string, string>([
  ...Object.values(quoteTable).flatMap(({ shown, unit }) =>
    isAmountUnit(unit) ? [[shown, 'quoted_currency'] as const] : [],
  ),
  ...Object.values(bookingTable).flatMap((row) =>
    'currency' in row ? [[row.shown, row.currency] as const] : [],
  ),
])

/** The values of a quote, or those of them that are known, among them the currencies of its amounts. */
type Currencies = object

function currencyOf(field: string, currencies: Currencies): string | null {
  const found = (currencies as Readonly<Record<string, unknown>>)[currencyFields.get(field) ?? '']
  return typeof found === 'string' ? found : null
}

/**
 * The currencies of a quote's amounts before and after each of its changes, by the number of the change: a later change can state
 * another one. `changes` is the history of the quote, newest first.
 */
export function currenciesAround(
  quote: Quote,
  changes: readonly Change[],
): ReadonlyMap<number, { readonly before: Currencies; readonly after: Currencies }> {
  let after: Currencies = quote
  return new Map(
    changes.map((change) => {
      const around = { before: { ...after, ...change.before }, after }
      after = around.before
      return [change.change_id, around] as const
    }),
  )
}

/** How a value of each unit is written. */
const unitWords: Readonly<Record<Unit, (value: NonNullable<Value>, currency: string | null) => string>> = {
  cents: amount,
  rate: amount,
  cost: amount,
  charge: amount,
  charges: (value) =>
    typeof value === 'object'
      ? value.map(({ name, amount: of }) => `${name} ${of.toFixed(2)}`).join('; ')
      : String(value),
  miles: (value) => count(Number(value)),
  time: (value) => moment(String(value)),
  day: (value) => calendarDay(String(value)),
  basis: named(basisWords),
  outcome: named(outcomeNames),
  reason: named(reasonNames),
  source: named(sourceNames),
  place: String,
  equipment: String,
  currency: String,
  rateType: named(rateTypeNames),
  mode: named(modeNames),
  stops: String,
  text: String,
}

/** @example fieldName('truck_cost') // 'Truck cost (AP)' */
export function fieldName(field: string): string {
  return fieldNames[field] ?? field.replaceAll('_', ' ')
}

/**
 * A value of a change in words, an amount with the currency that it had. A missing value is "none", because a change to no value is
 * significant.
 *
 * @example valueWords('quoted_rate', 2600, { quoted_currency: 'CAD' }) // '$2,600 CAD'
 */
export function valueWords(field: string, value: Value | undefined, currencies: Currencies = {}): string {
  if (value === null || value === undefined) return field === 'customer_name' ? 'as on the quote' : 'none'
  return unitWords[units.get(field) ?? 'text'](value, currencyOf(field, currencies))
}

/** The quote's current value of a changed field. */
function currentValue(quote: Quote, field: string): Value {
  // If the booking has no customer, the quote shows the quoted one, but the history has null.
  if (field === 'customer_name') {
    return quote.customer_name === quote.quoted_customer_name ? null : quote.customer_name
  }
  if (field === 'quoted_at') return quote.created_at
  return (quote as Readonly<Record<string, unknown>>)[field] as Value
}

export interface Restored {
  readonly field: string
  readonly now: string
  readonly back: string
  readonly differs: boolean
}

/**
 * The values that a rollback of a change would write: those from before the change, even if later changes followed. The
 * decision time changes with the outcome.
 */
export function restoredBy(quote: Quote, change: Change): readonly Restored[] {
  const rows = Object.entries(change.before).map(([field, value]) => {
    const [now, back] = [
      valueWords(field, currentValue(quote, field), quote),
      valueWords(field, value, { ...quote, ...change.before }),
    ]
    return { field, now, back, differs: now !== back }
  })
  const outcome = change.before.outcome ?? quote.outcome
  const decidedAt = 'decided_at' in change.before ? change.before.decided_at : quote.decided_at
  if ((outcome === 'pending') === (decidedAt === null)) return rows
  const decided = {
    field: 'decided_at',
    now: valueWords('decided_at', quote.decided_at, quote),
    back: outcome === 'pending' ? 'none' : 'the time of the rollback',
    differs: true,
  }
  return [...rows.filter(({ field }) => field !== 'decided_at'), decided]
}

/** The person or system that made a change. @example changedBy(change) // 'Ana Ortiz, in the dashboard' */
export function changedBy({ source, changed_by }: Change): string {
  switch (source) {
    case 'dashboard':
      return `${changed_by?.name ?? 'Someone'}, in the dashboard`
    case 'tms':
      return 'TMS, over the API'
    case 'import':
      return changed_by === null ? 'Import' : `Import by ${changed_by.name}`
    case 'lanewise':
      return 'Lanewise, by a rule'
  }
}

/**
 * Why a rule changed the outcome, and the person or system that set the previous outcome. Null for changes without a rule.
 * `changes` is the history of the quote, newest first.
 *
 * @example ruleWords(change, changes) // 'Won, because the TMS booked it; before: lost, set by Ana Ortiz on Mar 1, 2026, 9:00 AM.'
 */
export function ruleWords(change: Change, changes: readonly Change[]): string | null {
  const { rule, source, before, after } = change
  const is = outcomeNames[(after.outcome ?? 'won') as Quote['outcome']]
  const was = outcomeNames[(before.outcome ?? after.outcome ?? 'won') as Quote['outcome']].toLowerCase()
  const earlier = changes.find(
    (one) =>
      one.change_id < change.change_id && (one.after.outcome ?? one.after.outcome_source) !== undefined,
  )
  const setBy = earlier?.changed_by?.name ?? (earlier === undefined ? null : sourcePhrases[earlier.source])
  const set =
    earlier === undefined || setBy === null ? '' : `, set by ${setBy} on ${moment(earlier.changed_at)}`
  switch (rule) {
    case 'booking_is_a_win':
      return `${is}, because ${sourcePhrases[source]} booked it; before: ${was}${set}.`
    case 'cancellation_takes_back_the_win':
      return `${is}, because the booking was cancelled; before: ${was}${set}.`
    case 'validity_ended':
      return `${is}, because no answer came while the quote was valid; before: ${was}${set}.`
    case 'validity_extended':
      return `${is}, because the quote is valid longer now; before: ${was}${set}.`
    case 'another_offer_counts':
      return after.superseded_by == null
        ? 'This offer counts for the load again.'
        : 'Another offer counts for the load, which is won once.'
    case null:
      return null
  }
}
