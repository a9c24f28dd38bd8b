/**
 * Events: webhooks that are sent after their change is committed, in order per lane, and retried until they are
 * delivered.
 */
export { delayAfter, type EventCounts, eventSender } from './event-sender.ts'
export { guardedRequest, type LookUp, requestFailure, systemLookUp } from './guarded-request.ts'
export { type Posted, postEvent } from './post-event.ts'
