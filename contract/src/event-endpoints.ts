import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { deliveryStates, eventTypes } from './event-types.ts'
import { changeOf, nullable, oneOf, recordId, text, time, wholeNumber } from './fields.ts'
import {
  deliveryAnswerKeptMax,
  eventEndpointsMax,
  eventsKeptDaysMax,
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
      'paused: by a person; disabled: by the service. What happens in either is not kept for this address; what waited goes on when it is active again.',
  }),
  disabled_reason: {
    ...nullable(Type.Enum(['gone', 'failing'])),
    description:
      'gone: it answered 410. failing: an event was given up after its last attempt, and no later one was taken.',
  },
  created_at: moment,
  waiting: Type.Integer({
    description: 'Events that wait to be sent or to be tried again; at most 1,000 are counted',
  }),
  dead: Type.Integer({
    description: 'Events that were given up, of those still kept; at most 1,000 are counted',
  }),
  secrets: Type.Array(
    Type.Object({
      id: Type.Integer(),
      created_at: moment,
      expires_at: { ...nullable(moment), description: 'Set by rotation: the end of the overlap' },
    }),
    { description: 'What signs now, newest first, without its plaintext' },
  ),
})

const urlField = text('Where events are sent to: an https address on the public internet', eventUrlLengthMax)
const descriptionField = text('What the address is, for people')
const typesField = Type.Array(oneOf('A type of event', [...eventTypes]), {
  description: 'Which events are sent there',
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
  summary: 'Have events sent to an address',
  description: `Adds an address, at most ${eventEndpointsMax} a brokerage, and makes the secret that signs what is sent there, which is in this answer and nowhere else. Events are sent from what happens after this.`,
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
  description: 'Every address, newest first, without its secrets; and whether events are on at all.',
  tag: 'Events',
  who: admin,
  status: 200,
  answer: Type.Object({
    events_on: Type.Boolean({
      description: 'false: the operator has not set EVENTS=on, and nothing is sent',
    }),
    endpoints: Type.Array(EventEndpoint),
  }),
  examples: { answer: { events_on: true, endpoints: [exampleEndpoint] } },
})

export const changeEventEndpoint = endpoint({
  name: 'change-event-endpoint',
  method: 'PATCH',
  path: '/api/event-endpoints/{id}',
  summary: 'Change an address, pause it or switch it on again',
  description:
    'Changes the members that are given, at least one, and answers the whole address as it is then. A member that is absent or null stays as it is. state active also switches an address on again that the service had disabled.',
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
  summary: 'Send events to an address no more',
  description: `Takes the address out with its secrets. What waited for it is not sent; the log of its deliveries stays for ${eventsKeptDaysMax} days.`,
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
    'Makes a new secret. Until the overlap ends both sign, and each request carries two signatures: the receiver may hold either.',
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  body: Type.Object({
    overlap_hours: Type.Optional(
      wholeNumber(
        `Hours for which both sign; ${secretOverlapHoursDefault} when absent`,
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
  summary: 'Send a test to an address',
  description: 'Queues an event of the type endpoint.test. What became of it is in the log of deliveries.',
  tag: 'Events',
  who: admin,
  params: Type.Object({ id: recordId }),
  status: 202,
  answer: Type.Object({ event_id: Type.String({ description: 'The webhook-id it is sent with' }) }),
  problems: ['not-found', 'state-conflict', 'events-off'],
  examples: { answer: { event_id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11' } },
})

export const replayEvents = endpoint({
  name: 'replay-events',
  method: 'POST',
  path: '/api/event-endpoints/{id}/replay',
  summary: 'Send events to an address again',
  description: `Sends one event again, or all since a time, delivered before or given up; at most ${replayedEventsMax.toLocaleString('en-US')} at one request, the oldest first. They keep their webhook-id: a receiver that has one already can tell.`,
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
    since: Type.Optional(time('All events from then on')),
    only_dead: Type.Optional(Type.Boolean({ description: 'Only those that were given up' })),
  }),
  status: 202,
  answer: Type.Object({ replayed: Type.Integer({ description: 'Events that are now sent again' }) }),
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
    description: 'due: waits to be sent or tried again; dead: given up, a replay sends it again',
  }),
  attempts: Type.Integer(),
  next_at: { ...nullable(moment), description: 'When it is tried next, while it is due' },
  attempted_at: nullable(moment),
  status: {
    ...nullable(Type.Integer()),
    description: 'What the last attempt was answered with; null when there was no answer',
  },
  answer: {
    ...nullable(Type.String()),
    description: `The first ${deliveryAnswerKeptMax} characters of that answer`,
  },
  failure: { ...nullable(Type.String()), description: 'Why the last attempt was none, in words' },
  ms: nullable(Type.Number({ description: 'Milliseconds that the last attempt took' })),
})

export const listEventDeliveries = endpoint({
  name: 'list-event-deliveries',
  method: 'GET',
  path: '/api/event-deliveries',
  summary: 'What became of events',
  description: `Every event on its way to an address, newest first, with its last attempt; of ${eventsKeptDaysMax} days.`,
  tag: 'Events',
  who: admin,
  query: Type.Object({
    endpoint_id: Type.Optional({ ...recordId, description: 'Only those to this address' }),
    state: Type.Optional(oneOf('Only those in this state', [...deliveryStates])),
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the page before',
        maxLength: 200,
        'x-expected': 'the next_cursor of the page before',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Deliveries a page; ${pageSizeDefault} when absent`, 1, pageSizeMax)),
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
