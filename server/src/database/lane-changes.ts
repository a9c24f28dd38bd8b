import { sql } from 'kysely'
import {
  type BookingField,
  type BookingStamps,
  bookingFields,
  type LaneOutcome,
  type OutcomeRule,
  type RuledOutcome,
  stampsAfterRollback,
} from '#engine/shipment-update.ts'
import type { LaneRow } from './lanes.ts'
import { factsChanged, type TenantId, type TenantTransaction } from './open-database.ts'

/** The columns whose changes are kept in the audit trail, under the names the API gives them. */
const audited = {
  customer_rate: 'customer_rate_cents',
  truck_cost: 'truck_cost_cents',
  truck_cost_source: 'truck_cost_source',
  customer_name: 'customer_name',
  carrier_name: 'carrier_name',
  carrier_notes: 'carrier_notes',
  booked_at: 'booked_at',
  cancelled_at: 'cancelled_at',
  cancel_reason: 'cancel_reason',
  outcome: 'outcome',
  outcome_reason: 'outcome_reason',
  outcome_source: 'outcome_source',
  decided_at: 'decided_at',
} as const
type AuditedName = keyof typeof audited
type AuditedColumn = (typeof audited)[AuditedName]

/** Columns that change with the audited ones and that the audit trail does not show. */
const unaudited = ['signed_at', 'outcome_before_booking'] as const

/** The columns of a lane that can change. */
export type HeldValues = Pick<LaneRow, AuditedColumn | (typeof unaudited)[number]>

/** A value as the audit trail keeps it: cents as a number of cents, a time as ISO 8601 text. */
type AuditedValue = string | number | null
export type AuditedValues = Partial<Record<AuditedColumn, AuditedValue>>

export interface ChangeOrigin {
  readonly source: 'dashboard' | 'tms' | 'import'
  readonly userId?: number
  readonly tokenId?: number
  readonly importId?: number
  readonly rolledBackChange?: number
  /** The rule that changed the outcome, when a rule did. */
  readonly rule?: OutcomeRule | null
}

function audit(value: string | number | Date | null): AuditedValue {
  return value instanceof Date ? value.toISOString() : value
}

/** The audited columns in which `next` differs from `lane`, before and after. */
function differences(
  lane: HeldValues,
  next: Partial<HeldValues>,
): { before: AuditedValues; after: AuditedValues } {
  const before: AuditedValues = {}
  const after: AuditedValues = {}
  for (const column of Object.values(audited)) {
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

/** What `change_lane` takes: all that the lane then holds, and the line of its audit trail, null where nothing differs. */
export interface LaneChange {
  readonly held: HeldValues
  readonly change: object | null
}

/** A lane with a customer rate or truck cost is not cancelled, whichever path brings the amount. */
function uncancelledWhenBooked(lane: HeldValues, next: Partial<HeldValues>): Partial<HeldValues> {
  const held = { ...lane, ...next }
  const isBooked = held.customer_rate_cents !== null || held.truck_cost_cents !== null
  return isBooked && held.cancelled_at !== null ? { ...next, cancelled_at: null, cancel_reason: null } : next
}

/** What writes `values` to a lane that is as it was read; null when there is nothing to write. */
export function laneChange(
  lane: HeldValues,
  values: Partial<HeldValues>,
  origin: ChangeOrigin,
  now: Date,
): LaneChange | null {
  const next = uncancelledWhenBooked(lane, values)
  const { before, after } = differences(lane, next)
  const changed = Object.keys(after).length > 0
  if (!changed && unaudited.every((column) => next[column] === undefined)) return null
  const held: Record<string, unknown> = {}
  for (const column of [...Object.values(audited), ...unaudited]) {
    held[column] = next[column] === undefined ? lane[column] : next[column]
  }
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
  }
  return { held: held as unknown as HeldValues, change: changed ? change : null }
}

/**
 * Changes a locked lane and records the change, or does neither when nothing differs: the one way to change a lane.
 * Columns outside the audit trail (such as signed_at) are written either way.
 */
export async function changeLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  lane: LaneRow,
  next: Partial<HeldValues>,
  origin: ChangeOrigin,
  now: Date,
): Promise<LaneRow> {
  const written = laneChange(lane, next, origin, now)
  if (written === null) return lane
  const { held, change } = written
  const { rows } = await sql<LaneRow>`
    select * from change_lane(
      ${tenant}, ${lane.lane_id}, null, ${JSON.stringify(held)}::jsonb,
      ${change === null ? null : JSON.stringify(change)}::jsonb
    )
  `.execute(transaction)
  const [changed] = rows
  if (changed === undefined || changed.lane_id === null)
    throw new Error('A lane that is locked is not there.')
  factsChanged(transaction, tenant, { before: [lane], after: [changed] })
  return changed
}

/** The time of the database's clock, which all instances share. */
export async function databaseNow(transaction: TenantTransaction): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(transaction)
  return rows[0]?.now ?? new Date(Number.NaN)
}

/** The changes of a lane, newest first, with the name of the person where it was one. */
export async function listChanges(transaction: TenantTransaction, tenant: TenantId, laneId: number) {
  return transaction
    .selectFrom('lane_changes')
    .leftJoin('users', (join) =>
      join
        .onRef('users.tenant_id', '=', 'lane_changes.tenant_id')
        .onRef('users.user_id', '=', 'lane_changes.user_id'),
    )
    .select([
      'change_number',
      'source',
      'lane_changes.user_id',
      'users.name as user_name',
      'changed_at',
      'before',
      'after',
      'rolled_back_change',
      'rule',
    ])
    .where('lane_changes.tenant_id', '=', tenant)
    .where('lane_id', '=', laneId)
    .orderBy('change_number', 'desc')
    .execute()
}

export async function findChange(
  transaction: TenantTransaction,
  tenant: TenantId,
  laneId: number,
  changeNumber: number,
) {
  return (
    (await transaction
      .selectFrom('lane_changes')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('lane_id', '=', laneId)
      .where('change_number', '=', changeNumber)
      .executeTakeFirst()) ?? null
  )
}

/** The values of a change under the names and in the units of the API: dollars, not cents. */
export function auditedForApi(values: AuditedValues): Record<string, AuditedValue> {
  const shown: Record<string, AuditedValue> = {}
  for (const [name, column] of Object.entries(audited) as [AuditedName, AuditedColumn][]) {
    const value = values[column]
    if (value === undefined) continue
    shown[name] = typeof value === 'number' ? value / 100 : value
  }
  return shown
}

/** The column that holds each field of a booking. */
export const bookingColumns = {
  customerRateCents: 'customer_rate_cents',
  truckCostCents: 'truck_cost_cents',
  customerName: 'customer_name',
  carrierName: 'carrier_name',
  carrierNotes: 'carrier_notes',
  bookedAt: 'booked_at',
  cancelledAt: 'cancelled_at',
  cancelReason: 'cancel_reason',
} as const satisfies Record<BookingField, AuditedColumn>

/** The outcome of a lane as the engine has it. */
export function outcomeOf(lane: HeldValues): LaneOutcome {
  return {
    outcome: lane.outcome,
    reason: lane.outcome_reason,
    source: lane.outcome_source,
    decidedAt: lane.decided_at?.getTime() ?? null,
  }
}

/** The outcome that `lane` had before its booking, as the engine has it. */
export function outcomeBeforeBooking({ outcome_before_booking: kept }: HeldValues): LaneOutcome | null {
  if (kept === null) return null
  const { outcome, reason, source, decided_at } = kept
  return { outcome, reason, source, decidedAt: decided_at === null ? null : Date.parse(decided_at) }
}

/** The columns that an outcome set by a rule changes. The change names the rule: see `ChangeOrigin`. */
export function outcomeValues({ outcome, beforeBooking }: Omit<RuledOutcome, 'rule'>) {
  const moment = (at: number | null) => (at === null ? null : new Date(at))
  return {
    outcome: outcome.outcome,
    outcome_reason: outcome.reason,
    outcome_source: outcome.source,
    decided_at: moment(outcome.decidedAt),
    outcome_before_booking:
      beforeBooking === null
        ? null
        : {
            outcome: beforeBooking.outcome,
            reason: beforeBooking.reason,
            source: beforeBooking.source,
            decided_at: moment(beforeBooking.decidedAt)?.toISOString() ?? null,
          },
  } as const satisfies Partial<HeldValues>
}

/**
 * The values from before a change, ready to be written back. The booking fields among them count as written at `now` of
 * the database's clock: an update that was signed before the rollback and arrives after it does not restore the undone
 * values.
 */
export function rollbackValues(lane: LaneRow, before: AuditedValues, now: Date): Partial<HeldValues> {
  const values: Record<string, AuditedValue | Date> = { ...before }
  for (const column of ['booked_at', 'cancelled_at', 'decided_at'] as const) {
    const value = before[column]
    if (typeof value === 'string') values[column] = new Date(value)
  }
  const undone = bookingFields.filter((field) => before[bookingColumns[field]] !== undefined)
  if (undone.length === 0) return values as Partial<HeldValues>
  const seconds = Math.floor(now.getTime() / 1000)
  const stamps = undone.map((field) => [field, stampsAfterRollback(lane.signed_at[field] ?? [], seconds)])
  const signedAt: BookingStamps = { ...lane.signed_at, ...Object.fromEntries(stamps) }
  return { ...(values as Partial<HeldValues>), signed_at: signedAt }
}
