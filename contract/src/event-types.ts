/** What a brokerage can be told of, in the order in which they happen to a lane. Needs no package: the dashboard shows it. */
export const eventTypes = [
  'quote.created',
  'lane.booked',
  'lane.booking_cancelled',
  'lane.outcome_changed',
] as const
export type EventType = (typeof eventTypes)[number]

/** What is sent when somebody asks whether an address works. */
export const testEventType = 'endpoint.test'

export const deliveryStates = ['due', 'delivered', 'dead'] as const
