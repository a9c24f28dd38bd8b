/**
 * Events: webhooks that are sent after their change is committed, in order per lane, and retried until they are
 * delivered.
 */
export { type EventCounts, eventSender } from './event-sender.ts'
