import Type, { type Static, type TSchema } from 'typebox'
import { Approval, exampleApproval } from './approvals.ts'
import { credentialKinds, type EventType, testEventType } from './event-types.ts'
import { nullable } from './fields.ts'
import { tokenExpiryNoticeDays } from './limits.ts'
import {
  bookingFields,
  changeSources,
  exampleQuote,
  openQuote,
  outcomeReasons,
  outcomeRule,
  outcomes,
  Quote,
  quotedFields,
} from './quote.ts'

const source = Type.Enum([...changeSources], {
  description:
    'The source of the change: the dashboard, a signed update from the TMS, an imported file, or the service itself',
})
const changeId = Type.Integer({
  description:
    'The id of the change in the history of the quote. A later change of the quote has a higher id',
})
const lane = { ...Quote, description: 'The quote at the time of the event' }

/** The booking fields that `changed` in lane.booked can list, by their names in `lane`. */
export const bookedFields = Object.keys(bookingFields) as readonly (keyof typeof bookingFields)[]

/** The fields of the quote that `changed` in quote.updated can list, by their names in its history. */
export const changedQuoteFields = [
  ...(Object.keys(quotedFields) as (keyof typeof quotedFields)[]),
  'quoted_at',
  'voided_at',
  'void_reason',
  'superseded_by',
] as const

export const QuoteBooked = Type.Object({
  lane,
  change_id: changeId,
  source,
  changed: Type.Array(Type.Enum([...bookedFields]), {
    description: 'The booking fields that changed. If a booking is reverted, these fields of lane are null.',
  }),
})
export const QuoteUpdated = Type.Object({
  lane,
  change_id: changeId,
  source,
  changed: Type.Array(Type.Enum([...changedQuoteFields]), {
    description: 'The fields of the quote that changed',
  }),
  before: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
    description: 'The values of these fields before the change, as in the history of the quote',
  }),
})
/** The data of an event that needs only its quote and the change. */
export const QuoteChanged = Type.Object({ lane, change_id: changeId, source })
export const OutcomeChanged = Type.Object({
  lane,
  change_id: changeId,
  source,
  rule: outcomeRule,
  previous_outcome: Type.Enum([...outcomes]),
  previous_outcome_reason: nullable(Type.Enum([...outcomeReasons])),
})
/** The data of an event about a signed update of which nothing was applied. */
export const UpdateNotApplied = Type.Object({
  lane,
  reason: Type.Literal('older-signature', { description: 'The quote has values with a newer signature' }),
  signed_at: Type.String({ format: 'date-time', description: 'When the update was signed' }),
  fields: Type.Array(Type.String(), {
    description: 'The fields that the update had, by their names in its body',
  }),
})
export const QuoteCreated = Type.Object({ lane })
export const ApprovalChanged = Type.Object({
  approval: { ...Approval, description: 'The request for approval, in the form of GET /api/approvals' },
})
export const CredentialExpiring = Type.Object({
  credential: Type.Object({
    kind: Type.Enum([...credentialKinds], {
      description: 'A service token, or a signing secret that was rotated',
    }),
    id: Type.Integer({ description: 'The id in the list of service tokens or of signing secrets' }),
    name: Type.String(),
    expires_at: Type.String({ format: 'date-time', description: 'The service accepts it until this time' }),
  }),
})
export const EndpointTest = Type.Object({
  endpoint_id: Type.Integer({ description: 'The address under test' }),
})

/** The body of an event, following the Standard Webhooks specification. */
function body<Name extends string, Data extends TSchema>(type: Name, data: Data) {
  return Type.Object({
    type: Type.Literal(type),
    timestamp: Type.String({
      format: 'date-time',
      description: 'Time of the event. It is the same for every delivery attempt',
    }),
    data,
  })
}

const at = '2026-03-01T14:00:00.127Z'

/** Every event: its schema, when it is sent, and an example. */
export const eventBodies = {
  'quote.created': {
    summary: 'A quote was made',
    description:
      'Sent for each quote of a quote request, and for each requote. Quotes that were imported from a file are not sent, because they were made in the past.',
    schema: body('quote.created', QuoteCreated),
    example: { type: 'quote.created', timestamp: '2026-02-27T16:12:09.044Z', data: { lane: openQuote } },
  },
  'quote.updated': {
    summary: 'A quote changed',
    description:
      'Sent when a field of the quote changes, such as its rate or customer, or when the quote is voided or restored: by another system, a person, an imported file, a rollback, or the undo of an import.',
    schema: body('quote.updated', QuoteUpdated),
    example: {
      type: 'quote.updated',
      timestamp: at,
      data: {
        lane: { ...openQuote, quoted_rate: 2095, updated_at: '2026-03-01T14:00:00.000Z' },
        change_id: 1,
        source: 'tms',
        changed: ['quoted_rate'],
        before: { quoted_rate: 2150 },
      },
    },
  },
  'lane.booked': {
    summary: 'The booking of a quote was added or changed',
    description:
      'Sent when a field of the booking of a quote changes: by a signed update, by an imported file, or because a change was rolled back or an import was undone.',
    schema: body('lane.booked', QuoteBooked),
    example: {
      type: 'lane.booked',
      timestamp: at,
      data: {
        lane: exampleQuote,
        change_id: 1,
        source: 'tms',
        changed: ['customer_rate', 'truck_cost', 'carrier_name', 'carrier_notes', 'booked_at'],
      },
    },
  },
  'lane.booking_cancelled': {
    summary: 'The booking of a quote was cancelled',
    description:
      'Sent when a signed update cancels a booking. lane.booked comes first, with the same change_id, and names the fields that are null now. If the booking had set the outcome to won, lane.outcome_changed follows.',
    schema: body('lane.booking_cancelled', QuoteChanged),
    example: {
      type: 'lane.booking_cancelled',
      timestamp: at,
      data: {
        lane: {
          ...openQuote,
          cancelled_at: '2026-03-01T14:00:00.000Z',
          cancel_reason: 'Shipper pulled the load',
          updated_at: '2026-03-01T14:00:00.000Z',
        },
        change_id: 2,
        source: 'tms',
      },
    },
  },
  'lane.update_not_applied': {
    summary: 'A signed update was accepted and not applied',
    description:
      'Sent when nothing of a signed update is applied, because the quote has values with a newer signature: usually a late delivery, otherwise the clock of a signer is wrong. The answer to the update was 200 with updated: false.',
    schema: body('lane.update_not_applied', UpdateNotApplied),
    example: {
      type: 'lane.update_not_applied',
      timestamp: at,
      data: {
        lane: exampleQuote,
        reason: 'older-signature',
        signed_at: '2026-03-01T13:58:00.000Z',
        fields: ['customer_rate'],
      },
    },
  },
  'lane.outcome_changed': {
    summary: 'A quote was won or lost, or is open again',
    description:
      'Sent when the outcome of a quote or its reason changes. A booking that wins a quote sends two events with the same change_id: lane.booked, then lane.outcome_changed.',
    schema: body('lane.outcome_changed', OutcomeChanged),
    example: {
      type: 'lane.outcome_changed',
      timestamp: at,
      data: {
        lane: exampleQuote,
        change_id: 1,
        source: 'tms',
        rule: 'booking_is_a_win',
        previous_outcome: 'pending',
        previous_outcome_reason: null,
      },
    },
  },
  'quote.expired': {
    summary: 'A quote expired without an answer',
    description:
      'Sent instead of lane.outcome_changed when the outcome becomes expired: the quote was pending when its validity ended. If an answer or a booking comes later, lane.outcome_changed follows with the previous_outcome expired.',
    schema: body('quote.expired', QuoteChanged),
    example: {
      type: 'quote.expired',
      timestamp: '2026-03-06T23:00:21.377Z',
      data: {
        lane: {
          ...openQuote,
          valid_until: '2026-03-06T23:00:00.000Z',
          outcome: 'expired',
          outcome_source: 'lanewise',
          decided_at: '2026-03-06T23:00:00.000Z',
          updated_at: '2026-03-06T23:00:21.000Z',
        },
        change_id: 1,
        source: 'lanewise',
      },
    },
  },
  'approval.changed': {
    summary: 'Approval of a quote was requested, or its state changed',
    description:
      'Sent when somebody asks for approval of a quote outside the pricing rules, and each time the state changes: approved, rejected, countered, accepted, withdrawn or expired. email has the text of a message about it. The quotes that an approval makes are sent as quote.created, too.',
    schema: body('approval.changed', ApprovalChanged),
    example: { type: 'approval.changed', timestamp: at, data: { approval: exampleApproval } },
  },
  'credential.expiring': {
    summary: 'A service token or signing secret expires soon',
    description: `Sent once for each credential and address, ${tokenExpiryNoticeDays} days before a service token expires, and after a rotation for the signing secret that it replaces. An address that is added or activated within that time gets the event then.`,
    schema: body('credential.expiring', CredentialExpiring),
    example: {
      type: 'credential.expiring',
      timestamp: '2026-12-16T08:30:04.512Z',
      data: {
        credential: {
          kind: 'service_token',
          id: 1,
          name: 'TMS production',
          expires_at: '2027-01-15T08:30:00.000Z',
        },
      },
    },
  },
  [testEventType]: {
    summary: 'Test of an address',
    description:
      'Sent to one address when an admin requests a test, regardless of the event types of the address.',
    schema: body(testEventType, EndpointTest),
    example: { type: testEventType, timestamp: at, data: { endpoint_id: 1 } },
  },
} as const satisfies Record<
  EventType | typeof testEventType,
  { summary: string; description: string; schema: TSchema; example: object }
>

export type EventBody = {
  [Name in keyof typeof eventBodies]: Static<(typeof eventBodies)[Name]['schema']>
}[keyof typeof eventBodies]
