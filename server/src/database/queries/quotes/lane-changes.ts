import { sql } from 'kysely'
import type { EventType } from '#contract/event-types.ts'
import type { quoteFields } from '#contract/events.ts'
import { bookingFields, bookingTable } from '#engine/booking-fields.ts'
import { stampsAfterRollback } from '#engine/field-stamps.ts'
import {
  factsOf,
  type LaneOutcome,
  type OutcomeFacts,
  type OutcomeRule,
  type OutcomeSource,
  storedFacts,
  withDecision,
  withRollback,
} from '#engine/lane-outcome.ts'
import type { PushedQuoteField } from '#engine/quote-update.ts'
import { type BookingStamps, isBooked } from '#engine/shipment-update.ts'
import type { JsonRow, LaneRow, TenantTransaction } from '../../schema/index.ts'
import { quotesChanged, type TenantId } from '../../session/index.ts'
import { type BookingColumn, bookingColumns, bookingOf, laneOfJson } from './booking-columns.ts'

/** Columns outside the booking and the quote whose changes are in the audit trail. */
const auditedOutcome = {
  truck_cost_source: 'truck_cost_source',
  outcome: 'outcome',
  outcome_reason: 'outcome_reason',
  outcome_source: 'outcome_source',
  decided_at: 'decided_at',
  voided_at: 'voided_at',
  void_reason: 'void_reason',
} as const
/** The columns of the quote, by their names in the API. A repeated import or a pushed quote changes them. */
const quoted = {
  origin: 'origin',
  destination: 'destination',
  equipment: 'equipment',
  quoted_customer_name: 'quoted_customer_name',
  quoted_rate: 'quoted_rate_cents',
  estimated_cost: 'estimated_cost_cents',
  quoted_basis: 'quoted_basis',
  quoted_fuel: 'quoted_fuel_cents',
  quoted_accessorials: 'quoted_accessorials_cents',
  quoted_charges: 'quoted_charges',
  quoted_currency: 'quoted_currency',
  market_rate: 'market_rate_cents',
  miles: 'miles',
  pickup_date: 'pickup_date',
  quoted_at: 'created_at',
  rep_name: 'rep_name',
  rate_type: 'rate_type',
  valid_until: 'valid_until',
  counter_rate: 'counter_rate_cents',
} as const satisfies Partial<Record<(typeof quoteFields)[number], string>>

/** Columns that follow from others. They are in the trail so that a rollback or an undo restores them, but are never shown. */
const derived = [
  'import_said',
  'origin_key',
  'destination_key',
  'origin_state',
  'destination_state',
  'origin_market',
  'destination_market',
  'equipment_code',
  'created_by',
] as const

const auditedBooking = bookingFields.filter((field) => bookingTable[field].audited)
/** The columns whose changes are in the audit trail, by their names in the API. */
const shown: readonly (readonly [name: string, column: ShownColumn])[] = [
  ...auditedBooking.map((field) => [bookingTable[field].shown, bookingColumns[field]] as const),
  ...(Object.entries(auditedOutcome) as [string, AuditedOutcome][]),
  ...(Object.entries(quoted) as [string, QuotedColumn][]),
]
type AuditedOutcome = (typeof auditedOutcome)[keyof typeof auditedOutcome]
type QuotedColumn = (typeof quoted)[keyof typeof quoted]
type ShownColumn = BookingColumn | AuditedOutcome | QuotedColumn
type AuditedColumn = ShownColumn | (typeof derived)[number]
const auditedColumns: readonly AuditedColumn[] = [...shown.map(([, column]) => column), ...derived]

/** The columns of the quote that are not text, with their types. */
const quoteTypes: Partial<Record<keyof QuoteValues, string>> = {
  quoted_rate_cents: 'integer',
  estimated_cost_cents: 'integer',
  quoted_fuel_cents: 'integer',
  quoted_accessorials_cents: 'integer',
  market_rate_cents: 'integer',
  counter_rate_cents: 'integer',
  miles: 'double precision',
  pickup_date: 'date',
  created_at: 'timestamptz',
  valid_until: 'timestamptz',
  created_by: 'integer',
  quote_signed_at: 'jsonb',
}
const timeTypes: ReadonlySet<string> = new Set(['date', 'timestamptz'])
const quoteColumns: ReadonlySet<string> = new Set([...Object.values(quoted), ...derived])

/** Columns of the booking that change with the audited ones, but are not in the audit trail. */
const unaudited = [
  'signed_at',
  'outcome_before_booking',
  ...bookingFields.filter((field) => !bookingTable[field].audited).map((field) => bookingColumns[field]),
] as const

/** The columns of a lane that can change. */
export type HeldValues = Pick<LaneRow, BookingColumn | AuditedOutcome | (typeof unaudited)[number]>
export type QuoteValues = Pick<LaneRow, QuotedColumn | (typeof derived)[number] | 'quote_signed_at'>
/** New values of a lane. Absent columns do not change. */
export type NextValues = Partial<HeldValues & QuoteValues>

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

/** The audited columns in which `next` differs from `lane`, before and after. */
function differences(
  lane: Partial<LaneRow>,
  next: NextValues,
): { before: AuditedValues; after: AuditedValues } {
  const before: AuditedValues = {}
  const after: AuditedValues = {}
  for (const column of auditedColumns) {
    const value = next[column]
    if (value === undefined) continue
    const [was, is] = [audit(lane[column] ?? null), audit(value)]
    if (was !== is) {
      before[column] = was
      after[column] = is
    }
  }
  return { before, after }
}

/** The arguments of `change_lane`: the changes of the lane, and its audit trail row, null if nothing differs. */
interface LaneChange {
  /** Absent columns do not change. */
  readonly held: Partial<HeldValues>
  /** The new values of the quote's columns; null if the quote does not change. */
  readonly quote: Partial<Record<keyof QuoteValues, unknown>> | null
  readonly change: object | null
}

/** The columns of the quote whose change sends quote.updated. */
const quoteColumnsInEvents: readonly AuditedColumn[] = [...Object.values(quoted), 'voided_at', 'void_reason']
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
 * A lane with a customer rate or truck cost is not cancelled, however the amount was set. It is not void either: a booking
 * shows that the quote was not a mistake.
 */
function inForceWhenBooked(lane: HeldValues, next: NextValues): NextValues {
  const held = { ...lane, ...next }
  if (held.customer_rate_cents === null && held.truck_cost_cents === null) return next
  return {
    ...next,
    ...(held.cancelled_at === null ? {} : { cancelled_at: null, cancel_reason: null }),
    ...(held.voided_at === null ? {} : { voided_at: null, void_reason: null }),
  }
}

/** The change that writes `values` to a lane; null if there is nothing to write. */
export function laneChange(
  lane: HeldValues & Partial<QuoteValues>,
  values: NextValues,
  origin: ChangeOrigin,
  now: Date,
): LaneChange | null {
  const next = inForceWhenBooked(lane, values)
  const { before, after } = differences(lane, next)
  const changed = Object.keys(after).some((column) => !isDerived(column))
  const parts = Object.groupBy(Object.entries(after), ([column]) =>
    quoteColumns.has(column) ? 'quote' : 'held',
  )
  const besides = unaudited.filter((column) => next[column] !== undefined)
  const stamps = next.quote_signed_at
  const quote = [
    ...(parts.quote ?? []),
    ...(stamps === undefined ? [] : [['quote_signed_at', stamps] as const]),
  ]
  if (!changed && quote.length === 0 && besides.length === 0) return null
  const held = Object.fromEntries([
    ...(parts.held ?? []),
    ...besides.map((column) => [column, next[column]] as const),
  ])
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
  return {
    held: held as Partial<HeldValues>,
    quote: quote.length === 0 ? null : Object.fromEntries(quote),
    change: changed ? change : null,
  }
}

/** The new values of a locked lane, and the origin of the change. */
export interface ChangingLane {
  readonly lane: LaneRow
  readonly next: NextValues
  readonly origin: ChangeOrigin
}

/**
 * Changes locked lanes, each at most once, and records the changes. All code that changes lanes uses this function. A lane
 * without differences is not recorded, but columns outside the audit trail (such as signed_at) are still written. Returns
 * the updated lanes in the given order.
 */
export async function changeLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  changing: readonly ChangingLane[],
  now: Date,
): Promise<LaneRow[]> {
  const writing = changing.flatMap(({ lane, next, origin }) => {
    const written = laneChange(lane, next, origin, now)
    return written === null ? [] : [{ lane, ...written }]
  })
  await changeQuotes(
    transaction,
    tenant,
    writing.flatMap(({ lane, quote }) => (quote === null ? [] : [{ laneId: lane.lane_id, quote }])),
  )
  if (writing.length === 0) return changing.map(({ lane }) => lane)
  const { rows } = await sql<LaneRow>`
    select changed.*
    from unnest(
      ${writing.map(({ lane }) => lane.lane_id)}::bigint[],
      ${writing.map(({ held }) => JSON.stringify(held))}::jsonb[],
      ${writing.map(({ change }) => (change === null ? null : JSON.stringify(change)))}::jsonb[]
    ) with ordinality as sent (lane, held, change, nth)
    cross join lateral change_lane(${tenant}, sent.lane, null, sent.held, sent.change) as changed
    order by nth
  `.execute(transaction)
  const changed = new Map(rows.map((row) => [row.lane_id, row]))
  const ids = writing.map(({ lane }) => lane.lane_id)
  if (!ids.every((id) => changed.has(id))) throw new Error('A locked lane does not exist.')
  // A delivery that changes only stamps makes no new version: a reader would receive the same lane twice.
  const visible = writing.filter(({ change, quote }) => change !== null || quote?.import_said !== undefined)
  if (visible.length > 0) {
    quotesChanged(
      transaction,
      visible.map(({ lane }) => lane.lane_id),
    )
  }
  return changing.map(({ lane }) => changed.get(lane.lane_id) ?? lane)
}

/** Updates the quotes of locked lanes with one statement: each quote with its own columns. */
async function changeQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  quotes: readonly { readonly laneId: number; readonly quote: NonNullable<LaneChange['quote']> }[],
): Promise<void> {
  if (quotes.length === 0) return
  const columns = [...new Set(quotes.flatMap(({ quote }) => Object.keys(quote)))] as (keyof QuoteValues)[]
  // A time is sent in an array of its own: Citus refuses an update with a cast to a time or a date in a CASE.
  const times = columns.filter((column) => timeTypes.has(quoteTypes[column] ?? 'text'))
  const sentValue = (column: keyof QuoteValues) => {
    if (times.includes(column)) return sql`sent.${sql.ref(column)}`
    const arrow = quoteTypes[column] === 'jsonb' ? sql`->` : sql`->>`
    return sql`(sent.quote ${arrow} ${sql.lit(column)})::${sql.raw(quoteTypes[column] ?? 'text')}`
  }
  const assignments = columns.map(
    (column) =>
      sql`${sql.ref(column)} = case when sent.quote ? ${sql.lit(column)} then ${sentValue(column)} else known.${sql.ref(column)} end`,
  )
  // From the row of the tenant, so that in a distributed database the tenant's worker runs the statement.
  const arrays = [
    sql`${quotes.map(({ laneId }) => laneId)}::bigint[]`,
    sql`${quotes.map(({ quote }) => JSON.stringify(quote))}::jsonb[]`,
    ...times.map(
      (column) =>
        sql`${quotes.map(({ quote }) => audit((quote[column] ?? null) as string | Date | null))}::${sql.raw(quoteTypes[column] ?? 'text')}[]`,
    ),
  ]
  const names = ['lane', 'quote', ...times].map((name) => sql.ref(name))
  const sent = sql`tenants as one cross join unnest(${sql.join(arrays)}) as sent (${sql.join(names)})`
  await sql`
    update lanes as known set ${sql.join(assignments)} from ${sent}
    where one.tenant_id = ${tenant} and known.tenant_id = one.tenant_id and known.lane_id = sent.lane
  `.execute(transaction)
  if (!columns.includes('created_at') && !columns.includes('quoted_customer_name')) return
  // An imported or pushed request has one lane, so both have the same time and customer.
  await sql`
    update quote_requests as request set created_at = known.created_at, customer_name = known.quoted_customer_name
    from ${sent} join lanes as known on known.tenant_id = ${tenant} and known.lane_id = sent.lane
    where one.tenant_id = ${tenant} and request.tenant_id = one.tenant_id
      and request.request_id = known.request_id and (request.import_id is not null or known.external_id is not null)
  `.execute(transaction)
}

/** Like `changeLanes`, for one lane. */
export async function changeLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  lane: LaneRow,
  next: NextValues,
  origin: ChangeOrigin,
  now: Date,
): Promise<LaneRow> {
  const [changed = lane] = await changeLanes(transaction, tenant, [{ lane, next, origin }], now)
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

/** The fields in which `next` differs from a lane, with the values before and after, in the form of the API. */
export function differencesForApi(lane: LaneRow, next: NextValues) {
  const { before, after } = differences(lane, next)
  const [was, is] = [auditedForApi(before), auditedForApi(after)]
  return Object.keys(is).map((field) => ({ field, before: was[field] ?? null, after: is[field] ?? null }))
}

/** The outcome of a lane, in the form of the engine. */
export function outcomeOf(lane: HeldValues): LaneOutcome {
  return {
    outcome: lane.outcome,
    reason: lane.outcome_reason,
    source: lane.outcome_source,
    decidedAt: lane.decided_at?.getTime() ?? null,
  }
}

/** What the outcome of `lane` follows from, in the form of the engine. */
export function outcomeFactsOf(lane: HeldValues & Pick<LaneRow, 'quote_signed_at'>): OutcomeFacts {
  return factsOf({
    shown: outcomeOf(lane),
    kept: lane.outcome_before_booking,
    isBooked: isBooked(bookingOf(lane)),
    cancelledAt: lane.cancelled_at?.getTime() ?? null,
    stamps: lane.quote_signed_at.outcome ?? [],
  })
}

/** The columns of an outcome, and of what it follows from. */
export function outcomeValues(
  outcome: LaneOutcome,
  facts: OutcomeFacts,
): Pick<
  HeldValues,
  'outcome' | 'outcome_reason' | 'outcome_source' | 'decided_at' | 'outcome_before_booking'
> {
  return {
    outcome: outcome.outcome,
    outcome_reason: outcome.reason,
    outcome_source: outcome.source,
    decided_at: outcome.decidedAt === null ? null : new Date(outcome.decidedAt),
    outcome_before_booking: storedFacts(facts),
  }
}

/** The columns that a person's decision changes, at `clock` of the database's clock: pushes that were signed before are older. */
export function decisionValues(lane: LaneRow, decision: LaneOutcome, clock: Date): NextValues {
  const facts = withDecision(outcomeFactsOf(lane), decision, Math.floor(clock.getTime() / 1000))
  return { ...outcomeValues(decision, facts), ...quoteSetByPerson(lane, ['outcome'], clock) }
}

/** The values from before a change, in the form that `changeLanes` takes. */
export function valuesBefore(before: AuditedValues): NextValues {
  return laneOfJson(before as JsonRow<NextValues>)
}

/**
 * Like `valuesBefore`, for a user who rolls a change back. The booking fields count as written at `now` of the database's
 * clock, so that an update that was signed before the rollback and arrives after it does not restore the undone values. The
 * imported row of the change stays recorded, so that importing the file again does not restore them either.
 */
export function rollbackValues(lane: LaneRow, before: AuditedValues, now: Date): NextValues {
  const { import_said: _, ...values } = valuesBefore(before)
  const seconds = Math.floor(now.getTime() / 1000)
  const undone = bookingFields.filter((field) => before[bookingColumns[field]] !== undefined)
  const stamps = undone.map((field) => [field, stampsAfterRollback(lane.signed_at[field] ?? [], seconds)])
  const signedAt: BookingStamps = { ...lane.signed_at, ...Object.fromEntries(stamps) }
  return {
    ...values,
    ...(undone.length === 0 ? {} : { signed_at: signedAt }),
    ...quoteSetByPerson(lane, Object.keys(before), now),
    ...factsRolledBack(lane, values, seconds),
  }
}

/** What the outcome follows from after a rollback to `values` in the second `at`. */
function factsRolledBack(
  lane: LaneRow,
  values: NextValues,
  at: number,
): Pick<NextValues, 'outcome_before_booking'> {
  const restored = { ...lane, ...values } as LaneRow
  const isOutcome = values.outcome !== undefined || values.outcome_source !== undefined
  const facts = withRollback(
    outcomeFactsOf(lane),
    isOutcome ? outcomeOf(restored) : null,
    isBooked(bookingOf(restored)),
    at,
  )
  return { outcome_before_booking: storedFacts(facts) }
}

/** The pushed field of a quote that each column belongs to. */
const pushedFieldOf: Readonly<Record<string, PushedQuoteField>> = {
  origin: 'places',
  destination: 'places',
  miles: 'places',
  equipment: 'equipment',
  quoted_rate_cents: 'quotedRate',
  estimated_cost_cents: 'estimatedCost',
  quoted_basis: 'quotedBasis',
  quoted_fuel_cents: 'quotedFuel',
  quoted_accessorials_cents: 'quotedAccessorials',
  quoted_charges: 'quotedAccessorials',
  quoted_currency: 'quotedCurrency',
  quoted_customer_name: 'customer',
  rep_name: 'rep',
  created_at: 'quotedAt',
  valid_until: 'validUntil',
  rate_type: 'rateType',
  pickup_date: 'pickupDate',
  outcome: 'outcome',
  outcome_reason: 'outcome',
}

/** The stamps after a person set these columns of a quote at `now` of the database's clock: pushes signed before are older. */
export function quoteSetByPerson(
  lane: Pick<LaneRow, 'quote_signed_at'>,
  columns: readonly string[],
  now: Date,
): Pick<NextValues, 'quote_signed_at'> {
  const fields = new Set(columns.flatMap((column) => pushedFieldOf[column] ?? []))
  if (fields.size === 0) return {}
  const seconds = Math.floor(now.getTime() / 1000)
  const stamps = [...fields].map((field) => [
    field,
    stampsAfterRollback(lane.quote_signed_at[field] ?? [], seconds),
  ])
  return { quote_signed_at: { ...lane.quote_signed_at, ...Object.fromEntries(stamps) } }
}
