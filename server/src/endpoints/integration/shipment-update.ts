import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { type NotAppliedReason, notAppliedHeader } from '#contract/update-header.ts'
import {
  type BookingName,
  type BookingUnit,
  type BookingUnitOf,
  bookingTable,
  clearedBookingFields,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import { centsFromDollars } from '#engine/money.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { applyShipmentUpdate, type BookedQuote, type ShipmentUpdate } from '#engine/shipment-update.ts'
import {
  type BookedQuoteRow,
  bookingOf,
  bookShipment,
  type ChangeableValues,
  columnsOf,
  outcomeFactsOf,
  outcomeOf,
  outcomeValues,
  type ShipmentBooking,
} from '../../database/queries/index.ts'
import { accessorialCents, chargesErrors, storedCharges } from '../../entering/index.ts'
import { Reply, serve } from '../endpoint-call.ts'
import { noQuote } from '../quotes/named-quote.ts'

/** The fields of an update besides the name of its quote. */
export type UpdateFields = Omit<BodyOf<typeof shipmentUpdate>, 'lane_ref'>

/** Converts a value by its unit. The contract has validated its type. */
const readUnit = {
  cents: (value: unknown) => centsFromDollars(value as number),
  text: (value: unknown) => value as string,
  time: (value: unknown) => readTime(value as string),
  basis: (value: unknown) => value as RateBasis,
  currency: (value: unknown) => value as Currency,
  charges: (value: unknown) => storedCharges(value as SentUnits['charges']),
} as const satisfies Record<BookingUnit, (value: unknown) => string | number | null>

/** The wire type of a value, by its unit. */
interface SentUnits {
  readonly cents: number
  readonly text: string
  readonly time: string
  readonly basis: RateBasis
  readonly currency: Currency
  readonly charges: Parameters<typeof storedCharges>[0]
}
/** Compile-time check: the contract has every field, with the same unit. */
type SentFields = {
  readonly [F in SentBookingField as BookingName<'sent', F>]?: SentUnits[BookingUnitOf<F>]
}

/** The fields of an update in the units of the database: cents, epoch milliseconds. Absent fields stay absent. */
function carriedFields(body: Pick<UpdateFields, keyof SentFields>): ShipmentUpdate['fields'] {
  const sent: SentFields = body
  const carried = sentBookingFields.flatMap((field) => {
    const value = sent[bookingTable[field].sent]
    return value === undefined ? [] : [[field, readUnit[bookingTable[field].unit](value)]]
  })
  return { ...accessorialsOfNames(body), ...Object.fromEntries(carried) }
}

/** The accessorial charges as the sums of charges by name. Amounts that were sent replace them. */
function accessorialsOfNames(body: Pick<UpdateFields, keyof SentFields>): ShipmentUpdate['fields'] {
  const [customer, truck] = [
    accessorialCents(undefined, body.customer_charges),
    accessorialCents(undefined, body.truck_charges),
  ]
  return {
    ...(customer === null ? {} : { customerAccessorialsCents: customer }),
    ...(truck === null ? {} : { truckAccessorialsCents: truck }),
  }
}

const notWithCancelled = clearedBookingFields.map((field) => bookingTable[field].sent)

/** The errors of an update whose charges exceed their amount, or that both books and cancels. */
export function updateErrors(body: UpdateFields): FieldError[] {
  return [
    ...chargesErrors('customer', 'customer_rate', body),
    ...chargesErrors('truck', 'truck_cost', body),
    ...cancellationErrors(body),
  ]
}

function cancellationErrors(body: UpdateFields): FieldError[] {
  return body.cancelled === true
    ? notWithCancelled
        .filter((field) => body[field] !== undefined)
        .map((field) => ({
          pointer: `/${field}`,
          code: 'invalid',
          detail: `${field} cannot be sent with cancelled: true, which clears it. Send the cancellation alone, or remove cancelled.`,
        }))
    : body.cancel_reason === undefined
      ? []
      : [
          {
            pointer: '/cancel_reason',
            code: 'invalid',
            detail:
              'cancel_reason is only accepted with cancelled: true. Add cancelled: true, or remove cancel_reason.',
          },
        ]
}

function bookedQuote(quote: BookedQuoteRow): BookedQuote {
  return {
    booking: bookingOf(quote),
    stamps: quote.signed_at,
    outcome: outcomeOf(quote),
    facts: outcomeFactsOf(quote),
  }
}

/** The columns of a quote after an update. A booking makes a void quote valid again, even if its cancellation arrived first. */
function changeableValues(
  quote: BookedQuoteRow,
  next: BookedQuote,
  { truckCostApplied, isBooking }: { readonly truckCostApplied: boolean; readonly isBooking: boolean },
): ChangeableValues {
  const { booking } = next
  return {
    ...columnsOf(booking),
    truck_cost_source:
      booking.truckCostCents === null ? null : truckCostApplied ? 'tms' : quote.truck_cost_source,
    signed_at: next.stamps,
    voided_at: isBooking ? null : quote.voided_at,
    void_reason: isBooking ? null : quote.void_reason,
    superseded_by: quote.superseded_by,
    ...outcomeValues(next.outcome, next.facts),
  }
}

/** Decides which values of a quote a signed update changes. `now` is the time of the database's clock, in epoch milliseconds. */
export function decideUpdate(
  quote: BookedQuoteRow,
  body: UpdateFields,
  by: { readonly tokenId: number; readonly timestampSeconds: number },
  now: number,
  staleWrites: 'reject' | 'apply',
): ShipmentBooking {
  const update: ShipmentUpdate = {
    fields: carriedFields(body),
    ...(body.cancelled === true ? { cancellation: { reason: body.cancel_reason ?? null } } : {}),
    sender: by.tokenId,
    signedAtSeconds: by.timestampSeconds,
  }
  const held = bookedQuote(quote)
  const merged = applyShipmentUpdate(held, update, now, staleWrites)
  const { applied, updated, rule } = merged
  const truckCostApplied = applied.includes('truckCostCents')
  const isBooking = merged.lane.facts.bookings !== held.facts.bookings
  const signedAt = new Date(by.timestampSeconds * 1000)
  return {
    next: merged.changed ? changeableValues(quote, merged.lane, { truckCostApplied, isBooking }) : null,
    origin: { source: 'tms', tokenId: by.tokenId, rule },
    signedAt,
    tokenId: by.tokenId,
    carried: body,
    applied,
    updated,
    notApplied:
      updated || carriesNothing(body) ? null : { signed_at: signedAt.toISOString(), fields: sentNames(body) },
  }
}

const namesOfQuotes: ReadonlySet<string> = new Set(['lane_ref', 'external_id'])
const sentNames = (body: UpdateFields) => Object.keys(body).filter((name) => !namesOfQuotes.has(name))

const notAppliedRemarks: Readonly<Record<NotAppliedReason, string>> = {
  'older-signature': 'Not applied: the quote has values with a newer signature.',
  'nothing-to-apply': 'Not applied: the body had only lane_ref.',
}

/** Whether an update names only its quote. */
function carriesNothing(body: UpdateFields): boolean {
  return body.cancelled !== true && Object.keys(carriedFields(body)).length === 0
}

/** Why an update with the result `updated: false` was not applied. */
export function notAppliedReason(body: UpdateFields): NotAppliedReason {
  return carriesNothing(body) ? 'nothing-to-apply' : 'older-signature'
}

/**
 * A repeated request gets its stored answer. Otherwise the quote is found by its ref, the update is merged, and the quote,
 * its change and the update are saved in one commit. The next read uses the new facts.
 */
export const shipmentUpdateEndpoint = serve(shipmentUpdate, async ({ caller, body, signed }, parts) => {
  const { database, config } = parts
  const errors = updateErrors(body)
  if (errors.length > 0) throw invalid(errors)
  const by = { tokenId: caller.tokenId, timestampSeconds: signed.timestampSeconds }
  const request = { digest: signed.requestDigest, laneRef: body.lane_ref }
  const answer = await bookShipment(database, caller.tenant, request, (quote, now) =>
    decideUpdate(quote, body, by, now, config.staleWrites),
  )
  if (answer === null) throw noQuote(body.lane_ref)
  const result = { status: 'ok' as const, lane_id: answer.quoteId, updated: answer.updated }
  const replayed: Readonly<Record<string, string>> = answer.replayed ? { 'Idempotent-Replayed': 'true' } : {}
  if (answer.updated) return new Reply(result, replayed)
  const reason = notAppliedReason(body)
  return new Reply(result, { ...replayed, ...notAppliedHeader(reason) }, notAppliedRemarks[reason])
})
