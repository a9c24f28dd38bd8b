/**
 * Events: webhooks that are sent after their change is committed, in order per quote, and retried until they are
 * delivered.
 */
export { type EventCounts, eventSender } from './event-sender.ts'
