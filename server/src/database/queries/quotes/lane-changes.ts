import { sql } from 'kysely'
import type { EventType } from '#contract/event-types.ts'
import { bookingFields, bookingTable } from '#engine/booking-fields.ts'
import { stampsAfterRollback } from '#engine/field-stamps.ts'
import {
  assertMove,
  factsOf,
  type LaneOutcome,
  type OutcomeFacts,
  type OutcomeRule,
  type OutcomeSource,
  storedFacts,
  withDecision,
  withRollback,
} from '#engine/lane-outcome.ts'
import {
  type DerivedQuoteColumn,
  type QuoteColumn,
  quoteColumnOf,
  quoteFields,
  quoteTable,
} from '#engine/quote-fields.ts'
import type { PushedQuoteField } from '#engine/quote-update.ts'
import { type BookingStamps, isBooked } from '#engine/shipment-update.ts'
import type { JsonRow, LaneRow, TenantTransaction } from '../../schema/index.ts'
import { quotesChanged, type TenantId } from '../../session/index.ts'
import { type BookingColumn, bookingColumns, bookingOf, laneOfJson } from './booking-columns.ts'
import { decidesOffers, lockLoads, supersedingOf } from './offers.ts'

/** Columns outside the booking and the quote whose changes are in the audit trail. */
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

/** The columns that follow from others are in the trail so that a rollback or an undo restores them, but are never shown. */
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
export type HeldValues = Pick<
  LaneRow,
  BookingColumn | AuditedOutcome | Exclude<(typeof unaudited)[number], 'quote_signed_at'>
>
type QuoteValues = Pick<LaneRow, QuoteColumn | DerivedColumn | 'quote_signed_at'>
/** New values of a quote. Absent columns do not change. */
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

/** The audited columns in which `next` differs from a quote, before and after. */
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

/** The arguments of `change_quote`: the changes of the quote, and its audit trail row, null if nothing differs. */
interface LaneChange {
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
 * A quote with a customer rate or truck cost is not cancelled, however the amount was set. It is not void either: a booking
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

/** The change that writes `values` to a quote; null if there is nothing to write. */
export function laneChange(
  lane: HeldValues & Partial<QuoteValues>,
  values: NextValues,
  origin: ChangeOrigin,
  now: Date,
): LaneChange | null {
  const next = inForceWhenBooked(lane, values)
  if (origin.rule != null) assertMove(origin.rule, lane.outcome, next.outcome ?? lane.outcome)
  const { before, after } = differences(lane, next)
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
export interface ChangingLane {
  readonly lane: LaneRow
  readonly next: NextValues
  readonly origin: ChangeOrigin
}

/**
 * Changes locked quotes, each at most once, and records the changes. All code that changes quotes uses this function. A quote
 * without differences is not recorded, but columns outside the audit trail (such as signed_at) are still written. Then it sets
 * which offers of their loads count. Returns the updated quotes in the given order.
 */
export async function changeLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  changing: readonly ChangingLane[],
  now: Date,
): Promise<LaneRow[]> {
  const changed = await writeLanes(transaction, tenant, changing, now)
  const deciding = changing.flatMap(({ next }, nth) => (decidesOffers(next) ? (changed[nth] ?? []) : []))
  const settled = await settleOffers(
    transaction,
    tenant,
    deciding.map(({ request_id }) => request_id),
    now,
  )
  return changed.map((lane) => settled.get(lane.lane_id) ?? lane)
}

/**
 * Sets which offer counts for each load of these requests, and which offers it supersedes, from what the offers are now.
 * Returns the offers that changed, by lane_id.
 */
export async function settleOffers(
  transaction: TenantTransaction,
  tenant: TenantId,
  requestIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, LaneRow>> {
  const loads = await lockLoads(transaction, tenant, requestIds)
  const changing = loads.flatMap((offers) =>
    supersedingOf(offers).map(({ row, next }) => ({ lane: row, next, origin: settledBy })),
  )
  const changed = await writeLanes(transaction, tenant, changing, now)
  return new Map(changed.map((lane) => [lane.lane_id, lane]))
}

/** The service itself sets which offer of a load counts. */
export const settledBy: ChangeOrigin = { source: 'lanewise', rule: 'another_offer_counts' }

async function writeLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  changing: readonly ChangingLane[],
  now: Date,
): Promise<LaneRow[]> {
  const writing = changing.flatMap(({ lane, next, origin }) => {
    const written = laneChange(lane, next, origin, now)
    return written === null ? [] : [{ lane, ...written }]
  })
  if (writing.length === 0) return changing.map(({ lane }) => lane)
  const { rows } = await sql<LaneRow>`
    select changed.*
    from unnest(
      ${writing.map(({ lane }) => lane.lane_id)}::bigint[],
      ${writing.map(({ held }) => JSON.stringify(held))}::jsonb[],
      ${writing.map(({ change }) => (change === null ? null : JSON.stringify(change)))}::jsonb[]
    ) with ordinality as sent (lane, held, change, nth)
    cross join lateral change_quote(${tenant}, sent.lane, null, sent.held, sent.change) as changed
    order by nth
  `.execute(transaction)
  const changed = new Map(rows.map((row) => [row.lane_id, row]))
  const ids = writing.map(({ lane }) => lane.lane_id)
  if (!ids.every((id) => changed.has(id))) throw new Error('A locked quote does not exist.')
  await changeRequests(
    transaction,
    tenant,
    writing.flatMap(({ lane, held }) =>
      held.created_at === undefined && held.quoted_customer_name === undefined ? [] : [lane],
    ),
  )
  // A delivery that changes only stamps makes no new version: a reader would receive the same quote twice.
  const visible = writing.filter(({ change, held }) => change !== null || held.import_said !== undefined)
  if (visible.length > 0) {
    quotesChanged(
      transaction,
      visible.map(({ lane }) => lane.lane_id),
    )
  }
  return changing.map(({ lane }) => changed.get(lane.lane_id) ?? lane)
}

/** An imported or pushed request has one quote, so both have the same time and customer. */
async function changeRequests(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly Pick<LaneRow, 'lane_id' | 'request_id'>[],
): Promise<void> {
  if (lanes.length === 0) return
  // From the row of the tenant, so that in a distributed database the tenant's worker runs the statement. Both tables are read
  // by the listed keys: joined to a list alone, PostgreSQL read all rows of the brokerage until it had analyzed the tables.
  await sql`
    update quote_requests as request set created_at = known.created_at, customer_name = known.quoted_customer_name
    from tenants as one
    join quotes as known on known.tenant_id = one.tenant_id
      and known.lane_id = any(${lanes.map((lane) => lane.lane_id)}::bigint[])
    where one.tenant_id = ${tenant} and request.tenant_id = one.tenant_id
      and request.request_id = any(${lanes.map((lane) => lane.request_id)}::bigint[])
      and request.request_id = known.request_id and (request.import_id is not null or known.external_id is not null)
  `.execute(transaction)
}

/** Like `changeLanes`, for one quote. */
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

/** The fields in which `next` differs from a quote, with the values before and after, in the form of the API. */
export function differencesForApi(lane: LaneRow, next: NextValues) {
  const { before, after } = differences(lane, next)
  const [was, is] = [auditedForApi(before), auditedForApi(after)]
  return Object.keys(is).map((field) => ({ field, before: was[field] ?? null, after: is[field] ?? null }))
}

/** The outcome of a quote, in the form of the engine. */
export function outcomeOf(lane: HeldValues): LaneOutcome {
  return {
    outcome: lane.outcome,
    reason: lane.outcome_reason,
    source: lane.outcome_source,
    decidedAt: lane.decided_at?.getTime() ?? null,
  }
}

/** What the outcome of a quote follows from, in the form of the engine. */
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
  const second = Math.floor(clock.getTime() / 1000)
  const facts = withDecision(outcomeFactsOf(lane), decision, second, isBooked(bookingOf(lane)))
  return { ...outcomeValues(decision, facts), ...quoteSetByPerson(lane, ['outcome'], clock) }
}

/** The values from before a change, in the form that `changeLanes` takes. */
export function valuesBefore(before: AuditedValues): NextValues {
  return laneOfJson(before as JsonRow<NextValues>)
}

/**
 * Like `valuesBefore`, for a user who rolls a change back. The booking fields count as written at `now` of the database's
 * clock, so that an update that was signed before the rollback and arrives after it does not restore the undone values. The
 * digest of the imported row stays, so that importing the file again does not restore them either.
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
const pushedFieldOf: ReadonlyMap<string, PushedQuoteField> = new Map<string, PushedQuoteField>([
  ...quoteFields.flatMap((field) => {
    const { column, stamp } = quoteTable[field]
    return stamp === null ? [] : [[column, stamp] as const]
  }),
  ['outcome', 'outcome'],
  ['outcome_reason', 'outcome'],
])

/** The stamps after a person set these columns of a quote at `now` of the database's clock: pushes signed before are older. */
export function quoteSetByPerson(
  lane: Pick<LaneRow, 'quote_signed_at'>,
  columns: readonly string[],
  now: Date,
): Pick<NextValues, 'quote_signed_at'> {
  const fields = new Set(columns.flatMap((column) => pushedFieldOf.get(column) ?? []))
  if (fields.size === 0) return {}
  const seconds = Math.floor(now.getTime() / 1000)
  const stamps = [...fields].map((field) => [
    field,
    stampsAfterRollback(lane.quote_signed_at[field] ?? [], seconds),
  ])
  return { quote_signed_at: { ...lane.quote_signed_at, ...Object.fromEntries(stamps) } }
}
