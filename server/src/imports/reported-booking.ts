import { formatDollars } from '#engine/money.ts'
import { bookingColumns, type HeldValues } from '../database/lane-changes.ts'
import type { LaneRow } from '../database/lanes.ts'
import type { ImportFieldName } from './import-fields.ts'
import type { ImportedBooking, ReportedBooking } from './rows.ts'

const fieldNames: Readonly<Record<keyof ReportedBooking, ImportFieldName>> = {
  customerRateCents: 'customer_rate',
  truckCostCents: 'truck_cost',
  customerName: 'customer_name',
  carrierName: 'carrier_name',
  carrierNotes: 'carrier_mc',
  bookedAt: 'booked_at',
}

export type Takeover =
  | { readonly values: Partial<HeldValues> }
  | { readonly conflicts: readonly { readonly field: ImportFieldName; readonly what: string }[] }

/**
 * What a row of a file changes on a lane that is here already: an empty set of values when the lane says the same.
 *
 * A file does not know how old it is, so it replaces nothing that is known better: a value that the TMS has pushed, and
 * an outcome that a person or the TMS has set, stand. Where the row says otherwise, that is a conflict.
 *
 * @example takeOver(pendingLane, { laneRef: '7-1-1', booking: { customerRateCents: 215000 }, outcome: 'won', ... }, now)
 *   // { values: { customer_rate_cents: 215000, outcome: 'won', outcome_source: 'import', decided_at: ... } }
 */
export function takeOver(lane: LaneRow, reported: ImportedBooking, now: Date): Takeover {
  const values: Partial<HeldValues> = {}
  const conflicts: { field: ImportFieldName; what: string }[] = []
  for (const [field, value] of Object.entries(reported.booking) as [
    keyof ReportedBooking,
    string | number,
  ][]) {
    const column = bookingColumns[field]
    const holds = lane[column] instanceof Date ? lane[column].getTime() : lane[column]
    if (holds === value) continue
    if (field === 'customerName' && holds === null && lane.quoted_customer_name === value) continue
    if (lane.signed_at[field] !== undefined && holds !== null) {
      conflicts.push({
        field: fieldNames[field],
        what: `cannot replace what the TMS has pushed, ${shown(holds, field)}`,
      })
      continue
    }
    Object.assign(values, { [column]: field === 'bookedAt' ? new Date(value) : value })
    if (field === 'truckCostCents') values.truck_cost_source = 'import'
  }
  if (reported.outcome !== null) {
    if (lane.outcome === 'pending') {
      values.outcome = reported.outcome
      values.outcome_source = 'import'
      values.decided_at = reported.decidedAt === null ? now : new Date(reported.decidedAt)
      values.outcome_reason = reported.reason
    } else if (lane.outcome === reported.outcome) {
      if (reported.reason !== null && lane.outcome_reason === null) values.outcome_reason = reported.reason
    } else if (lane.outcome_source === 'import') {
      values.outcome = reported.outcome
      values.decided_at = reported.decidedAt === null ? now : new Date(reported.decidedAt)
      values.outcome_reason = reported.reason
    } else {
      const who = lane.outcome_source === 'tms' ? 'the TMS' : 'a person'
      conflicts.push({
        field: 'outcome',
        what: `cannot be ${reported.outcome}: ${who} has set the lane to ${lane.outcome}`,
      })
    }
  }
  return conflicts.length > 0 ? { conflicts } : { values }
}

function shown(value: string | number, field: keyof ReportedBooking): string {
  if (typeof value === 'string') return `"${value}"`
  return field === 'bookedAt' ? new Date(value).toISOString() : formatDollars(value)
}
