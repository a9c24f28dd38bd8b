/**
 * The event types: those of quotes in the order in which they occur, then those without a quote. This file imports no
 * package, because the dashboard uses it.
 */
export const eventTypes = [
  'quote.created',
  'quote.updated',
  'lane.booked',
  'lane.booking_cancelled',
  'lane.update_not_applied',
  'lane.outcome_changed',
  'quote.expired',
  'approval.changed',
  'credential.expiring',
] as const
export type EventType = (typeof eventTypes)[number]

/** The kinds of credentials that expire. */
export const credentialKinds = ['service_token', 'signing_secret'] as const

/** The type of the test event that an admin can send to an address. */
export const testEventType = 'endpoint.test'

export const deliveryStates = ['due', 'delivered', 'dead'] as const
