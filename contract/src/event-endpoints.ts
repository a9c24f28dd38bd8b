import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { deliveryStates, eventTypes } from './event-types.ts'
import { changeOf, nullable, oneOf, recordId, text, time, wholeNumber } from './fields.ts'
import {
  deliveryAnswerSavedMax,
  eventEndpointsMax,
  eventsKeptDaysMax,
  eventTestsPerSecondMax,
  eventUrlLengthMax,
  pageSizeDefault,
  pageSizeMax,
  replayedEventsMax,
  secretOverlapHoursDefault,
  secretOverlapHoursMax,
} from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const moment = Type.String({ format: 'date-time' })

export const EventEndpoint = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  description: nullable(Type.String()),
  event_types: Type.Array(Type.Enum([...eventTypes])),
  state: Type.Enum(['active', 'paused', 'disabled'], {
    description:
      'paused: by a person; disabled: by the service. In both states new events are not queued for this address. Events queued earlier are sent when the address is active again.',
  }),
  disabled_reason: {
    ...nullable(Type.Enum(['gone', 'failing'])),
    description:
      'gone: the address returned 410. failing: an event failed its last attempt, and no later event was accepted.',
  },
  created_at: moment,
  waiting: Type.Integer({
    description: 'Number of events that wait for delivery or for a retry, at most 1,000',
  }),
  dead: Type.Integer({
    description: 'Number of saved events that failed their last attempt, at most 1,000',
  }),
  secrets: Type.Array(
    Type.Object({
      id: Type.Integer(),
      created_at: moment,
      expires_at: { ...nullable(moment), description: 'Set by rotation: the end of the overlap' },
    }),
    { description: 'The active secrets, newest first, without plaintext' },
  ),
})

const urlField = text(
  'The URL that events are sent to: an https address on the public internet',
  eventUrlLengthMax,
)
const descriptionField = text('A description of the address')
const typesField = Type.Array(oneOf('A type of event', [...eventTypes]), {
  description: 'The event types to send to this address',
  minItems: 1,
  maxItems: eventTypes.length,
  uniqueItems: true,
  'x-expected': `a list of one or more of ${eventTypes.join(', ')}, each once`,
})

export const EventEndpointWithSecret = Type.Object({
  endpoint: EventEndpoint,
  secret: Type.String({ description: 'whsec_ and 32 random bytes in base64' }),
  warning: Type.String(),
})

const exampleEndpoint = {
  id: 1,
  url: 'https://hooks.example.com/lanewise',
  description: 'Data warehouse',
  event_types: ['lane.booked', 'lane.outcome_changed'],
  state: 'active',
  disabled_reason: null,
  created_at: '2026-03-01T14:00:00.000Z',
  waiting: 0,
  dead: 0,
  secrets: [{ id: 1, created_at: '2026-03-01T14:00:00.000Z', expires_at: null }],
}
const exampleWithSecret = {
  endpoint: exampleEndpoint,
  secret: 'whsec_...',
  warning: 'This secret is shown once. Store it now; it cannot be shown again.',
}

export const addEventEndpoint = endpoint({
  name: 'add-event-endpoint',
  method: 'POST',
  path: '/api/event-endpoints',
  summary: 'Add an address for events',
  description: `Adds an address, at most ${eventEndpointsMax} per brokerage, and creates the secret that signs its events. The secret is only in this response. Only events after this request are sent.`,
  tag: 'Events',
  who: admin,
  body: Type.Object({
    url: urlField,
    description: Type.Optional(descriptionField),
    event_types: Type.Optional(typesField),
  }),
  status: 201,
  answer: EventEndpointWithSecret,
  problems: ['url-not-allowed', 'too-many-event-endpoints', 'events-off'],
  examples: {
    body: {
      url: 'https://hooks.example.com/lanewise',
      description: 'Data warehouse',
      event_types: ['lane.booked', 'lane.outcome_changed'],
    },
    answer: exampleWithSecret,
  },
})

export const listEventEndpoints = endpoint({
  name: 'list-event-endpoints',
  method: 'GET',
  path: '/api/event-endpoints',
  summary: 'List the addresses that events are sent to',
  description: 'All addresses, newest first, without their secrets, and whether events are switched on.',
  tag: 'Events',
  who: admin,
  status: 200,
  answer: Type.Object({
    events_on: Type.Boolean({
      description: 'false: the operator has not set EVENTS=on, so no events are sent',
    }),
    endpoints: Type.Array(EventEndpoint),
  }),
  examples: { answer: { events_on: true, endpoints: [exampleEndpoint] } },
})

export const changeEventEndpoint = endpoint({
  name: 'change-event-endpoint',
  method: 'PATCH',
  path: '/api/event-endpoints/{id}',
  summary: 'Change, pause or reactivate an address',
  description:
    'Changes the given members, at least one, and returns the updated address. A member that is absent or null does not change. state active also reactivates an address that the service disabled.',
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  body: changeOf({
    url: Type.Optional(urlField),
    description: Type.Optional(descriptionField),
    event_types: Type.Optional(typesField),
    state: Type.Optional(oneOf('active or paused', ['active', 'paused'])),
  }),
  status: 200,
  answer: EventEndpoint,
  problems: ['not-found', 'url-not-allowed'],
  examples: { body: { state: 'paused' }, answer: { ...exampleEndpoint, state: 'paused' } },
})

export const removeEventEndpoint = endpoint({
  name: 'remove-event-endpoint',
  method: 'DELETE',
  path: '/api/event-endpoints/{id}',
  summary: 'Remove an address',
  description: `Removes the address and its secrets. Queued events are not sent. The log of its deliveries is kept for ${eventsKeptDaysMax} days.`,
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: Type.Object({ id: Type.Integer() }),
  problems: ['not-found'],
  examples: { answer: { id: 1 } },
})

export const rotateEventSecret = endpoint({
  name: 'rotate-event-secret',
  method: 'POST',
  path: '/api/event-endpoints/{id}/rotate',
  summary: 'Rotate the secret of an address',
  description:
    'Creates a new secret. Until the overlap ends, each request has two signatures, one per secret, and the receiver can verify either.',
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  body: Type.Object({
    overlap_hours: Type.Optional(
      wholeNumber(
        `Hours for which both secrets sign; default ${secretOverlapHoursDefault}`,
        0,
        secretOverlapHoursMax,
      ),
    ),
  }),
  status: 201,
  answer: EventEndpointWithSecret,
  problems: ['not-found'],
  examples: {
    body: { overlap_hours: 24 },
    answer: {
      ...exampleWithSecret,
      endpoint: {
        ...exampleEndpoint,
        secrets: [
          { id: 2, created_at: '2026-03-02T09:00:00.000Z', expires_at: null },
          { id: 1, created_at: '2026-03-01T14:00:00.000Z', expires_at: '2026-03-03T09:00:00.000Z' },
        ],
      },
    },
  },
})

export const testEventEndpoint = endpoint({
  name: 'test-event-endpoint',
  method: 'POST',
  path: '/api/event-endpoints/{id}/test',
  summary: 'Send a test event to an address',
  description: `Queues an event of the type endpoint.test. The log of deliveries shows the result. At most ${eventTestsPerSecondMax} per second and brokerage.`,
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  status: 202,
  answer: Type.Object({ event_id: Type.String({ description: 'The webhook-id of the test event' }) }),
  problems: ['not-found', 'state-conflict', 'events-off', 'too-many-attempts'],
  examples: { answer: { event_id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11' } },
})

export const replayEvents = endpoint({
  name: 'replay-events',
  method: 'POST',
  path: '/api/event-endpoints/{id}/replay',
  summary: 'Send events to an address again',
  description: `Sends one event again, or all events since a time, whether delivered or failed; at most ${replayedEventsMax.toLocaleString('en-US')} per request, oldest first. Events keep their webhook-id, so that a receiver can detect duplicates.`,
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  body: Type.Object({
    event_id: Type.Optional(
      Type.String({
        description: 'One event, by its webhook-id',
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
        'x-expected': 'the webhook-id of an event',
      }),
    ),
    since: Type.Optional(time('All events since this time')),
    only_dead: Type.Optional(Type.Boolean({ description: 'Only events that failed their last attempt' })),
  }),
  status: 202,
  answer: Type.Object({ replayed: Type.Integer({ description: 'Number of events queued for delivery' }) }),
  problems: ['not-found', 'state-conflict', 'events-off'],
  examples: { body: { since: '2026-03-01T14:00:00Z', only_dead: true }, answer: { replayed: 12 } },
})

export const EventDelivery = Type.Object({
  event_id: Type.String({ description: 'The webhook-id' }),
  endpoint_id: Type.Integer(),
  type: Type.String(),
  lane_ref: nullable(Type.String()),
  occurred_at: moment,
  state: Type.Enum([...deliveryStates], {
    description: 'due: waits for delivery or for a retry; dead: failed its last attempt, can be replayed',
  }),
  attempts: Type.Integer(),
  next_at: { ...nullable(moment), description: 'Time of the next attempt; null unless due' },
  attempted_at: nullable(moment),
  status: {
    ...nullable(Type.Integer()),
    description: 'HTTP status of the response to the last attempt; null if there was no response',
  },
  answer: {
    ...nullable(Type.String()),
    description: `The first ${deliveryAnswerSavedMax} characters of that response`,
  },
  failure: { ...nullable(Type.String()), description: 'Why the last attempt got no response, in words' },
  ms: nullable(Type.Number({ description: 'Duration of the last attempt in milliseconds' })),
})

export const listEventDeliveries = endpoint({
  name: 'list-event-deliveries',
  method: 'GET',
  path: '/api/event-deliveries',
  summary: 'List event deliveries',
  description: `The deliveries of the last ${eventsKeptDaysMax} days, newest first, each with its last attempt.`,
  tag: 'Events',
  who: admin,
  query: Type.Object({
    endpoint_id: Type.Optional({ ...recordId, description: 'Only deliveries to this address' }),
    state: Type.Optional(oneOf('Only deliveries in this state', [...deliveryStates])),
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the previous page',
        maxLength: 200,
        'x-expected': 'the next_cursor of the previous page',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Deliveries per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({ deliveries: Type.Array(EventDelivery), next_cursor: nullable(Type.String()) }),
  examples: {
    answer: {
      deliveries: [
        {
          event_id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11',
          endpoint_id: 1,
          type: 'lane.booked',
          lane_ref: '48211093754-1-1',
          occurred_at: '2026-03-01T14:00:00.127Z',
          state: 'due',
          attempts: 2,
          next_at: '2026-03-01T14:05:11.480Z',
          attempted_at: '2026-03-01T14:00:06.300Z',
          status: 503,
          answer: 'upstream is restarting',
          failure: null,
          ms: 41.8,
        },
      ],
      next_cursor: null,
    },
  },
})
