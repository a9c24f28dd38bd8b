import type { askApproval } from '#contract/approvals.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { testEventType } from '#contract/event-types.ts'
import { type bookedFields, changedQuoteFields, type EventBody } from '#contract/events.ts'
import type { outcomeReasons, outcomes } from '#contract/quote.ts'
import { bookingFields, bookingTable } from '#engine/booking-fields.ts'
import { chargesOf, countedAmounts } from '#engine/counted-amounts.ts'
import type { LandedAmounts, RateBasis } from '#engine/rate-basis.ts'
import {
  auditedForApi,
  type ClaimedEvent,
  type EventColumns,
  type EventFacts,
  type QuoteThen,
  quoteOfJson,
  sentAmounts,
} from '../database/queries/index.ts'
import { countedMiles, landedIn, shownQuote } from '../quotes/index.ts'

type BookedName = (typeof bookedFields)[number]

/** The booking fields of events, each with its column. A field without an entry is a type error. */
const fieldsInEvents: readonly (readonly [column: string, name: BookedName])[] = bookingFields
  .filter((field) => bookingTable[field].inEvents)
  .map((field) => [bookingTable[field].column, bookingTable[field].shown])

function quoteOf({ lane: quote }: EventFacts) {
  if (quote === undefined) throw new Error('An event of a quote was saved without its quote.')
  const origin = {
    reference: quote.reference,
    quotedBy: quotedBy(quote),
    defaultBasis: quote.default_basis ?? 'all_in',
  }
  const columns = quoteOfJson<EventColumns>(quote)
  return shownQuote(columns, origin, convertedThen(quote, columns, origin.defaultBasis))
}

/** AR and AP, converted with the surcharges and the exchange rate at the time of the event, even if these were corrected since. */
function convertedThen(
  { rates, landed }: QuoteThen,
  columns: EventColumns,
  basis: RateBasis,
): LandedAmounts | undefined {
  if (landed !== undefined && landed !== null) {
    return { revenueCents: landed.revenue_cents, costCents: landed.cost_cents, basis, currency: 'USD' }
  }
  if (rates === undefined || rates === null) return undefined
  const amounts = countedAmounts(sentAmounts(columns), basis, () =>
    chargesOf(
      {
        fuelMillsPerMile: rates.fuel_mills_per_mile,
        costMillsPerMile: rates.cost_mills_per_mile,
        usdPerCad: rates.usd_per_cad,
      },
      countedMiles(columns) ?? Number.NaN,
    ),
  )
  return landedIn(amounts, basis) ?? undefined
}

function quotedBy({ created_by, quoted_by_name }: QuoteThen) {
  return created_by === null || quoted_by_name === null ? null : { userId: created_by, name: quoted_by_name }
}

function changeOf(about: EventFacts) {
  return { lane: quoteOf(about), change_id: about.change_number ?? 0, source: about.source ?? 'dashboard' }
}

/**
 * The body of an event. It is computed from the saved event, so every attempt sends the same body.
 *
 * @example eventBody(event, 1).type // 'lane.booked'
 */
export function eventBody({ type, occurredAt, about }: ClaimedEvent, endpointId: number): EventBody {
  const timestamp = occurredAt.toISOString()
  switch (type) {
    case 'quote.created':
      return { type, timestamp, data: { lane: quoteOf(about) } }
    case 'quote.updated': {
      const before = auditedForApi(about.before ?? {})
      const changed = changedQuoteFields.filter((field) => before[field] !== undefined)
      return {
        type,
        timestamp,
        data: {
          ...changeOf(about),
          changed,
          before: Object.fromEntries(changed.map((field) => [field, before[field] ?? null])),
        },
      }
    }
    case 'quote.expired':
      return { type, timestamp, data: changeOf(about) }
    case 'lane.booked':
      return {
        type,
        timestamp,
        data: {
          ...changeOf(about),
          changed: fieldsInEvents.flatMap(([column, name]) =>
            about.after?.[column] === undefined ? [] : name,
          ),
        },
      }
    case 'lane.booking_cancelled':
      return { type, timestamp, data: changeOf(about) }
    case 'lane.update_not_applied': {
      const { signed_at = timestamp, fields = [] } = about
      return {
        type,
        timestamp,
        data: { lane: quoteOf(about), reason: 'older-signature', signed_at, fields: [...fields] },
      }
    }
    case 'lane.outcome_changed': {
      const data = changeOf(about)
      // The change trail has only the fields that changed. The others have the quote's current values.
      const before = { outcome: data.lane.outcome, outcome_reason: data.lane.outcome_reason, ...about.before }
      return {
        type,
        timestamp,
        data: {
          ...data,
          rule: about.rule ?? null,
          previous_outcome: before.outcome as (typeof outcomes)[number],
          previous_outcome_reason: before.outcome_reason as (typeof outcomeReasons)[number] | null,
        },
      }
    }
    case 'approval.changed': {
      const { approval } = about
      if (approval === undefined) throw new Error('An event of an approval was saved without its request.')
      return { type, timestamp, data: { approval: approval as AnswerOf<typeof askApproval> } }
    }
    case 'credential.expiring': {
      const { credential } = about
      if (credential === undefined)
        throw new Error('An event of a credential was saved without its credential.')
      return { type, timestamp, data: { credential } }
    }
    case testEventType:
      return { type, timestamp, data: { endpoint_id: endpointId } }
    default:
      throw new Error(`There is no event type ${type}.`)
  }
}
