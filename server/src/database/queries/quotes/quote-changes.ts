import { sql } from 'kysely'
import type { EventType } from '#contract/event-types.ts'
import { bookingFields, bookingTable } from '#engine/booking-fields.ts'
import { stampsAfterRollback } from '#engine/field-stamps.ts'
import {
  type DerivedQuoteColumn,
  type QuoteColumn,
  quoteColumnOf,
  quoteFields,
  quoteTable,
} from '#engine/quote-fields.ts'
import {
  assertMove,
  factsOf,
  type OutcomeFacts,
  type OutcomeRule,
  type OutcomeSource,
  type QuoteOutcome,
  savedFacts,
  withDecision,
  withRollback,
} from '#engine/quote-outcome.ts'
import type { PushedQuoteField } from '#engine/quote-update.ts'
import { type BookingStamps, isBooked } from '#engine/shipment-update.ts'
import type { JsonRow, QuoteRow, TenantTransaction } from '../../schema/index.ts'
import { quotesChanged, type TenantId } from '../../session/index.ts'
import { type BookingColumn, bookingColumns, bookingOf, quoteOfJson } from './booking-columns.ts'
import { decidesOffers, lockLoads, supersedingOf } from './offers.ts'

/** The audited columns that are neither a field of a quote nor of a booking. */
const auditedOutcome = {
  truck_cost_source: 'truck_cost_source',
  outcome: 'outcome',
  outcome_reason: 'outcome_reason',
  outcome_source: 'outcome_source',
  decided_at: 'decided_at',
  voided_at: 'voided_at',
  void_reason: 'void_reason',
  superseded_by: 'superseded_by',
} as const

/** Columns that are derived from others. The trail has them for rollbacks and undos to restore, but never shows them. */
const derived: readonly DerivedColumn[] = [
  'import_said',
  'superseded_as',
  ...quoteFields.flatMap((field): readonly DerivedQuoteColumn[] => quoteTable[field].derived),
]
type DerivedColumn = DerivedQuoteColumn | 'import_said' | 'superseded_as'

const auditedBooking = bookingFields.filter((field) => bookingTable[field].audited)
/** The columns whose changes are in the audit trail, by their names in the API. */
const shown: readonly (readonly [name: string, column: ShownColumn])[] = [
  ...auditedBooking.map((field) => [bookingTable[field].shown, bookingColumns[field]] as const),
  ...(Object.entries(auditedOutcome) as [string, AuditedOutcome][]),
  ...quoteFields.map((field) => [quoteTable[field].shown, quoteColumnOf(field)] as const),
]
type AuditedOutcome = (typeof auditedOutcome)[keyof typeof auditedOutcome]
type ShownColumn = BookingColumn | AuditedOutcome | QuoteColumn
type AuditedColumn = ShownColumn | DerivedColumn
const auditedColumns: readonly AuditedColumn[] = [...shown.map(([, column]) => column), ...derived]

const quotedColumns: readonly QuoteColumn[] = quoteFields.map(quoteColumnOf)

/** Columns that change with the audited ones, but are not in the audit trail. */
const unaudited = [
  'signed_at',
  'outcome_before_booking',
  'quote_signed_at',
  ...bookingFields.filter((field) => !bookingTable[field].audited).map((field) => bookingColumns[field]),
] as const

/** The columns of a quote that can change. */
export type ChangeableValues = Pick<
  QuoteRow,
  BookingColumn | AuditedOutcome | Exclude<(typeof unaudited)[number], 'quote_signed_at'>
>
type QuoteValues = Pick<QuoteRow, QuoteColumn | DerivedColumn | 'quote_signed_at'>
/** New values of a quote. Absent columns do not change. */
export type NextValues = Partial<ChangeableValues & QuoteValues>

/** A value in the audit trail: an amount in cents, a time as ISO 8601 text. */
type AuditedValue = string | number | null
export type AuditedValues = Partial<Record<AuditedColumn, AuditedValue>>

export interface ChangeOrigin {
  readonly source: OutcomeSource
  readonly userId?: number
  readonly tokenId?: number
  readonly importId?: number
  readonly rolledBackChange?: number
  /** The rule that changed the outcome, if a rule did. */
  readonly rule?: OutcomeRule | null
}

const derivedColumns: ReadonlySet<string> = new Set(derived)
const isDerived = (column: string) => derivedColumns.has(column)

function audit(value: string | number | Date | null): AuditedValue {
  return value instanceof Date ? value.toISOString() : value
}

/** The audited columns in which `next` differs from a quote, before and after. */
function differences(
  quote: Partial<QuoteRow>,
  next: NextValues,
): { before: AuditedValues; after: AuditedValues } {
  const before: AuditedValues = {}
  const after: AuditedValues = {}
  for (const column of auditedColumns) {
    const value = next[column]
    if (value === undefined) continue
    const [was, is] = [audit(quote[column] ?? null), audit(value)]
    if (was !== is) {
      before[column] = was
      after[column] = is
    }
  }
  return { before, after }
}

/** The arguments of `change_quote`: the new values of the quote, and its audit trail row, null if nothing audited differs. */
interface QuoteChange {
  /** Absent columns do not change. */
  readonly held: Readonly<Partial<Record<keyof NextValues, unknown>>>
  readonly change: object | null
}

/** The columns of the quote whose change sends quote.updated. */
const quoteColumnsInEvents: readonly AuditedColumn[] = [
  ...quotedColumns,
  'voided_at',
  'void_reason',
  'superseded_by',
]
const columnsInEvents = bookingFields
  .filter((field) => bookingTable[field].inEvents)
  .map((field) => bookingColumns[field])

/** The types of the events of a change, in the order in which they are sent. */
function eventsOf(after: AuditedValues): EventType[] {
  const differs = (columns: readonly AuditedColumn[]) => columns.some((column) => after[column] !== undefined)
  const kinds: (EventType | false)[] = [
    differs(quoteColumnsInEvents) && 'quote.updated',
    differs(columnsInEvents) && 'lane.booked',
    (after.cancelled_at ?? null) !== null && 'lane.booking_cancelled',
    differs(['outcome', 'outcome_reason']) &&
      (after.outcome === 'expired' ? 'quote.expired' : 'lane.outcome_changed'),
  ]
  return kinds.filter((kind) => kind !== false)
}

/**
 * Adds to `next` that a quote with a customer rate or truck cost is not cancelled, however the amount was set, and not void:
 * its booking shows that the quote was not a mistake.
 */
function inForceWhenBooked(quote: ChangeableValues, next: NextValues): NextValues {
  const held = { ...quote, ...next }
  if (held.customer_rate_cents === null && held.truck_cost_cents === null) return next
  return {
    ...next,
    ...(held.cancelled_at === null ? {} : { cancelled_at: null, cancel_reason: null }),
    ...(held.voided_at === null ? {} : { voided_at: null, void_reason: null }),
  }
}

/** The change that writes `values` to a quote; null if there is nothing to write. */
export function quoteChange(
  quote: ChangeableValues & Partial<QuoteValues>,
  values: NextValues,
  origin: ChangeOrigin,
  now: Date,
): QuoteChange | null {
  const next = inForceWhenBooked(quote, values)
  if (origin.rule != null) assertMove(origin.rule, quote.outcome, next.outcome ?? quote.outcome)
  const { before, after } = differences(quote, next)
  const changed = Object.keys(after).some((column) => !isDerived(column))
  const besides = unaudited.filter((column) => next[column] !== undefined)
  if (!changed && Object.keys(after).length === 0 && besides.length === 0) return null
  const held = { ...after, ...Object.fromEntries(besides.map((column) => [column, next[column]])) }
  const change = {
    source: origin.source,
    user_id: origin.userId,
    token_id: origin.tokenId,
    import_id: origin.importId,
    changed_at: now,
    before,
    after,
    rolled_back_change: origin.rolledBackChange,
    rule: origin.rule ?? undefined,
    events: eventsOf(after),
  }
  return { held, change: changed ? change : null }
}

/** The new values of a locked quote, and the origin of the change. */
export interface ChangingQuote {
  readonly quote: QuoteRow
  readonly next: NextValues
  readonly origin: ChangeOrigin
}

/**
 * Changes locked quotes, each at most once, and records the changes. All code that changes quotes uses this function. A quote
 * without differences is not recorded, but columns outside the audit trail (such as signed_at) are still written. Then it sets
 * which offers of their loads count. Returns the updated quotes in the given order.
 */
export async function changeQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  changing: readonly ChangingQuote[],
  now: Date,
): Promise<QuoteRow[]> {
  const changed = await writeQuotes(transaction, tenant, changing, now)
  const deciding = changing.flatMap(({ next }, nth) => (decidesOffers(next) ? (changed[nth] ?? []) : []))
  const settled = await settleOffers(
    transaction,
    tenant,
    deciding.map(({ request_id }) => request_id),
    now,
  )
  return changed.map((quote) => settled.get(quote.lane_id) ?? quote)
}

/**
 * Sets which offer counts for each load of these requests, and which offers it supersedes, from the current offers.
 * Returns the offers that changed, by lane_id.
 */
export async function settleOffers(
  transaction: TenantTransaction,
  tenant: TenantId,
  requestIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, QuoteRow>> {
  const loads = await lockLoads(transaction, tenant, requestIds)
  const changing = loads.flatMap((offers) =>
    supersedingOf(offers).map(({ row, next }) => ({ quote: row, next, origin: settledBy })),
  )
  const changed = await writeQuotes(transaction, tenant, changing, now)
  return new Map(changed.map((quote) => [quote.lane_id, quote]))
}

/** The origin of a change when the service sets which offer counts. */
export const settledBy: ChangeOrigin = { source: 'lanewise', rule: 'another_offer_counts' }

async function writeQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  changing: readonly ChangingQuote[],
  now: Date,
): Promise<QuoteRow[]> {
  const writing = changing.flatMap(({ quote, next, origin }) => {
    const written = quoteChange(quote, next, origin, now)
    return written === null ? [] : [{ lane: quote, ...written }]
  })
  if (writing.length === 0) return changing.map(({ quote }) => quote)
  const { rows } = await sql<QuoteRow>`
    select changed.*
    from unnest(
      ${writing.map(({ lane: quote }) => quote.lane_id)}::bigint[],
      ${writing.map(({ held }) => JSON.stringify(held))}::jsonb[],
      ${writing.map(({ change }) => (change === null ? null : JSON.stringify(change)))}::jsonb[]
    ) with ordinality as sent (lane, held, change, nth)
    cross join lateral change_quote(${tenant}, sent.lane, null, sent.held, sent.change) as changed
    order by nth
  `.execute(transaction)
  const changed = new Map(rows.map((row) => [row.lane_id, row]))
  const ids = writing.map(({ lane: quote }) => quote.lane_id)
  if (!ids.every((id) => changed.has(id))) throw new Error('A locked quote does not exist.')
  await changeRequests(
    transaction,
    tenant,
    writing.flatMap(({ lane: quote, held }) =>
      held.created_at === undefined && held.quoted_customer_name === undefined ? [] : [quote],
    ),
  )
  // A message that changes only signing times makes no new version, because readers would receive the same quote twice.
  const visible = writing.filter(({ change, held }) => change !== null || held.import_said !== undefined)
  if (visible.length > 0) {
    quotesChanged(
      transaction,
      visible.map(({ lane: quote }) => quote.lane_id),
    )
  }
  return changing.map(({ quote }) => changed.get(quote.lane_id) ?? quote)
}

/** Copies a quote's time and customer to its request. An imported or pushed request has one quote, so both must be equal. */
async function changeRequests(
  transaction: TenantTransaction,
  tenant: TenantId,
  quotes: readonly Pick<QuoteRow, 'lane_id' | 'request_id'>[],
): Promise<void> {
  if (quotes.length === 0) return
  // Starts from the tenant's row, so that in a distributed database the tenant's worker runs the statement. Each table has a
  // list of keys: with one list and a join, PostgreSQL read all rows of the brokerage until it had analyzed the tables.
  await sql`
    update quote_requests as request set created_at = known.created_at, customer_name = known.quoted_customer_name
    from tenants as one
    join quotes as known on known.tenant_id = one.tenant_id
      and known.lane_id = any(${quotes.map((quote) => quote.lane_id)}::bigint[])
    where one.tenant_id = ${tenant} and request.tenant_id = one.tenant_id
      and request.request_id = any(${quotes.map((quote) => quote.request_id)}::bigint[])
      and request.request_id = known.request_id and (request.import_id is not null or known.external_id is not null)
  `.execute(transaction)
}

/** Like `changeQuotes`, for one quote. */
export async function changeQuote(
  transaction: TenantTransaction,
  tenant: TenantId,
  quote: QuoteRow,
  next: NextValues,
  origin: ChangeOrigin,
  now: Date,
): Promise<QuoteRow> {
  const [changed = quote] = await changeQuotes(transaction, tenant, [{ quote, next, origin }], now)
  return changed
}

/** The time of the database's clock, which all instances share. */
export async function databaseNow(transaction: TenantTransaction): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(transaction)
  return rows[0]?.now ?? new Date(Number.NaN)
}

/** The values of a change with the names and units of the API: dollars, not cents. */
export function auditedForApi(values: AuditedValues): Record<string, AuditedValue> {
  const named: Record<string, AuditedValue> = {}
  for (const [name, column] of shown) {
    const value = values[column]
    if (value === undefined) continue
    named[name] = typeof value === 'number' && column.endsWith('_cents') ? value / 100 : value
  }
  return named
}

/** The fields in which `next` differs from a quote, with the values before and after, in the form of the API. */
export function differencesForApi(quote: QuoteRow, next: NextValues) {
  const { before, after } = differences(quote, next)
  const [was, is] = [auditedForApi(before), auditedForApi(after)]
  return Object.keys(is).map((field) => ({ field, before: was[field] ?? null, after: is[field] ?? null }))
}

/** The outcome of a quote, in the form of the engine. */
export function outcomeOf(quote: ChangeableValues): QuoteOutcome {
  return {
    outcome: quote.outcome,
    reason: quote.outcome_reason,
    source: quote.outcome_source,
    decidedAt: quote.decided_at?.getTime() ?? null,
  }
}

/** The facts from which the outcome of a quote follows, in the form of the engine. */
export function outcomeFactsOf(quote: ChangeableValues & Pick<QuoteRow, 'quote_signed_at'>): OutcomeFacts {
  return factsOf({
    shown: outcomeOf(quote),
    kept: quote.outcome_before_booking,
    isBooked: isBooked(bookingOf(quote)),
    cancelledAt: quote.cancelled_at?.getTime() ?? null,
    stamps: quote.quote_signed_at.outcome ?? [],
  })
}

/** The columns of an outcome, and of the facts from which it follows. */
export function outcomeValues(
  outcome: QuoteOutcome,
  facts: OutcomeFacts,
): Pick<
  ChangeableValues,
  'outcome' | 'outcome_reason' | 'outcome_source' | 'decided_at' | 'outcome_before_booking'
> {
  return {
    outcome: outcome.outcome,
    outcome_reason: outcome.reason,
    outcome_source: outcome.source,
    decided_at: outcome.decidedAt === null ? null : new Date(outcome.decidedAt),
    outcome_before_booking: savedFacts(facts),
  }
}

/** The new values after a person's decision at `clock`, the database's time. Pushes that were signed before it count as older. */
export function decisionValues(quote: QuoteRow, decision: QuoteOutcome, clock: Date): NextValues {
  const second = Math.floor(clock.getTime() / 1000)
  const facts = withDecision(outcomeFactsOf(quote), decision, second, isBooked(bookingOf(quote)))
  return { ...outcomeValues(decision, facts), ...quoteSetByPerson(quote, ['outcome'], clock) }
}

/** The values from before a change, in the form that `changeQuotes` takes. */
export function valuesBefore(before: AuditedValues): NextValues {
  return quoteOfJson(before as JsonRow<NextValues>)
}

/**
 * Like `valuesBefore`, for a user who rolls a change back. The booking fields count as written at `now` of the database's
 * clock, so that an update that was signed before the rollback and arrives after it does not restore the undone values. The
 * digest of the imported row stays, so that importing the file again does not restore them either.
 */
export function rollbackValues(quote: QuoteRow, before: AuditedValues, now: Date): NextValues {
  const { import_said: _, ...values } = valuesBefore(before)
  const seconds = Math.floor(now.getTime() / 1000)
  const undone = bookingFields.filter((field) => before[bookingColumns[field]] !== undefined)
  const stamps = undone.map((field) => [field, stampsAfterRollback(quote.signed_at[field] ?? [], seconds)])
  const signedAt: BookingStamps = { ...quote.signed_at, ...Object.fromEntries(stamps) }
  return {
    ...values,
    ...(undone.length === 0 ? {} : { signed_at: signedAt }),
    ...quoteSetByPerson(quote, Object.keys(before), now),
    ...factsRolledBack(quote, values, seconds),
  }
}

/** The facts from which the outcome follows after a rollback to `values` in the second `at`. */
function factsRolledBack(
  quote: QuoteRow,
  values: NextValues,
  at: number,
): Pick<NextValues, 'outcome_before_booking'> {
  const restored = { ...quote, ...values } as QuoteRow
  const isOutcome = values.outcome !== undefined || values.outcome_source !== undefined
  const facts = withRollback(
    outcomeFactsOf(quote),
    isOutcome ? outcomeOf(restored) : null,
    isBooked(bookingOf(restored)),
    at,
  )
  return { outcome_before_booking: savedFacts(facts) }
}

/** The pushed field of a quote that each column belongs to. */
const pushedFieldOf: ReadonlyMap<string, PushedQuoteField> = new Map<string, PushedQuoteField>([
  ...quoteFields.flatMap((field) => {
    const { column, stamp } = quoteTable[field]
    return stamp === null ? [] : [[column, stamp] as const]
  }),
  ['outcome', 'outcome'],
  ['outcome_reason', 'outcome'],
])

/** The stamps after a person set these columns of a quote at `now`, the database's time. Pushes signed before count as older. */
export function quoteSetByPerson(
  quote: Pick<QuoteRow, 'quote_signed_at'>,
  columns: readonly string[],
  now: Date,
): Pick<NextValues, 'quote_signed_at'> {
  const fields = new Set(columns.flatMap((column) => pushedFieldOf.get(column) ?? []))
  if (fields.size === 0) return {}
  const seconds = Math.floor(now.getTime() / 1000)
  const stamps = [...fields].map((field) => [
    field,
    stampsAfterRollback(quote.quote_signed_at[field] ?? [], seconds),
  ])
  return { quote_signed_at: { ...quote.quote_signed_at, ...Object.fromEntries(stamps) } }
}
