import type { bookedFields } from '#contract/events.ts'
import type { Lane } from '#contract/lane.ts'
import type { Answer } from '../api/index.ts'
import {
  calendarDay,
  count,
  dollars,
  moment,
  outcomeNames,
  reasonNames,
  sourceNames,
  sourcePhrases,
} from '../shared-ui/index.ts'

export type Change = Answer<'list-changes'>['changes'][number]
type Value = Change['before'][string]

const bookingNames: Readonly<Record<(typeof bookedFields)[number], string>> = {
  customer_rate: 'Customer rate (AR)',
  truck_cost: 'Truck cost (AP)',
  customer_name: 'Customer as booked',
  carrier_name: 'Carrier',
  carrier_notes: 'MC',
  booked_at: 'Booked',
  cancelled_at: 'Booking cancelled',
  cancel_reason: 'Reason of the cancellation',
}

const fieldNames: Readonly<Record<string, string>> = {
  ...bookingNames,
  truck_cost_source: 'Source of the truck cost',
  outcome: 'Outcome',
  outcome_reason: 'Reason',
  outcome_source: 'Source of the outcome',
  decided_at: 'Decided',
  quoted_rate: 'Quoted rate',
  estimated_cost: 'Estimated cost',
  market_rate: 'Market rate',
  miles: 'Miles',
  pickup_date: 'Day of pickup',
  quoted_at: 'Quoted',
}

/** @example fieldName('truck_cost') // 'Truck cost (AP)' */
export function fieldName(field: string): string {
  return fieldNames[field] ?? field.replaceAll('_', ' ')
}

/** A value of a change as people read it; nothing known is said in words, since a change to nothing is news. */
export function valueWords(field: string, value: Value | undefined): string {
  if (value === null || value === undefined) return field === 'customer_name' ? 'as on the quote' : 'none'
  const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    outcome: outcomeNames,
    outcome_reason: reasonNames,
    outcome_source: sourceNames,
    truck_cost_source: sourceNames,
  }
  const text = String(value)
  if (field.endsWith('_at')) return moment(text)
  if (field === 'pickup_date') return calendarDay(text)
  if (field === 'miles') return count(Number(value))
  if (typeof value === 'number') return dollars(value)
  return names[field]?.[text] ?? text
}

/** What the lane holds now in a field of the audit trail. */
function heldNow(lane: Lane, field: string): Value {
  // The lane shows the quote's customer where the booking names none; the trail says null then.
  if (field === 'customer_name') {
    return lane.customer_name === lane.quoted_customer_name ? null : lane.customer_name
  }
  if (field === 'quoted_at') return lane.created_at
  return (lane as Readonly<Record<string, unknown>>)[field] as Value
}

export interface Restored {
  readonly field: string
  readonly now: string
  readonly back: string
  readonly differs: boolean
}

/**
 * What a rollback of a change would write, field by field. The values are those from before the change, whatever came
 * after it; the time of a decision follows the outcome.
 */
export function restoredBy(lane: Lane, change: Change): readonly Restored[] {
  const rows = Object.entries(change.before).map(([field, value]) => {
    const [now, back] = [valueWords(field, heldNow(lane, field)), valueWords(field, value)]
    return { field, now, back, differs: now !== back }
  })
  const outcome = change.before.outcome ?? lane.outcome
  const decidedAt = 'decided_at' in change.before ? change.before.decided_at : lane.decided_at
  if ((outcome === 'pending') === (decidedAt === null)) return rows
  const decided = {
    field: 'decided_at',
    now: valueWords('decided_at', lane.decided_at),
    back: outcome === 'pending' ? 'none' : 'the time of the rollback',
    differs: true,
  }
  return [...rows.filter(({ field }) => field !== 'decided_at'), decided]
}

/** Who or what made a change. @example changedBy(change) // 'Ana Ortiz, in the dashboard' */
export function changedBy({ source, changed_by }: Change): string {
  switch (source) {
    case 'dashboard':
      return `${changed_by?.name ?? 'Someone'}, in the dashboard`
    case 'tms':
      return 'TMS, over the API'
    case 'import':
      return changed_by === null ? 'Import' : `Import by ${changed_by.name}`
  }
}

/**
 * Why a rule changed the outcome, and which person or system set the outcome before; null where no rule did.
 * `changes` is the history of the lane, newest first.
 *
 * @example ruleWords(change, changes) // 'Won, because the TMS booked it; before: lost, set by Ana Ortiz on Mar 1, 2026, 9:00 AM.'
 */
export function ruleWords(change: Change, changes: readonly Change[]): string | null {
  const { rule, source, before, after } = change
  const is = outcomeNames[(after.outcome ?? 'won') as Lane['outcome']]
  const was = outcomeNames[(before.outcome ?? after.outcome ?? 'won') as Lane['outcome']].toLowerCase()
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
    case null:
      return null
  }
}
