/**
 * Events: webhooks that are sent after their change was committed, in order per lane, until they arrive.
 */
export { type EventCounts, eventSender } from './event-sender.ts'
