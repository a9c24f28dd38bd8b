/**
 * The event types, in the order in which they occur on a lane. This file imports no package, because the dashboard
 * uses it.
 */
export const eventTypes = [
  'quote.created',
  'lane.booked',
  'lane.booking_cancelled',
  'lane.outcome_changed',
] as const
export type EventType = (typeof eventTypes)[number]

/** The type of the test event that an admin can send to an address. */
export const testEventType = 'endpoint.test'

export const deliveryStates = ['due', 'delivered', 'dead'] as const
