import type { Answer } from '../api/index.ts'

/** An address that events are sent to. */
export type EventEndpoint = Answer<'list-event-endpoints'>['endpoints'][number]
