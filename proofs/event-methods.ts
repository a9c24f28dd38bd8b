import { eventEndpoints as endpoints, events } from '#server/database/queries/index.ts'
import { alters, finds, type Method, shows } from './method.ts'

/** Functions of the database about events and where they are sent. */
export const eventMethods: Readonly<Record<string, Method>> = {
  'event-endpoints.listEventEndpoints': shows(({ transaction, tenant, now }) =>
    endpoints.listEventEndpoints(transaction, tenant, now),
  ),
  'event-endpoints.lockEventEndpoint': shows(({ transaction, tenant, of }) =>
    endpoints.lockEventEndpoint(transaction, tenant, of.eventEndpoint),
  ),
  'event-endpoints.lockEventEndpointCount': finds(({ transaction, tenant }) =>
    endpoints.lockEventEndpointCount(transaction, tenant),
  ),
  'event-endpoints.insertEventEndpoint': finds(({ transaction, tenant, of, now }) =>
    endpoints.insertEventEndpoint(transaction, tenant, {
      url: 'https://hooks.example.com/',
      description: null,
      eventTypes: ['lane.booked'],
      userId: of.owner,
      now,
    }),
  ),
  'event-endpoints.updateEventEndpoint': alters(({ transaction, tenant, of }) =>
    endpoints.updateEventEndpoint(transaction, tenant, of.eventEndpoint, {
      url: 'https://hooks.example.com/',
      description: null,
      event_types: ['lane.booked'],
      state: 'paused',
      disabled_reason: null,
    }),
  ),
  'event-endpoints.removeEventEndpoint': alters(({ transaction, tenant, of }) =>
    endpoints.removeEventEndpoint(transaction, tenant, of.eventEndpoint),
  ),
  'event-endpoints.insertEventSecret': alters(({ transaction, tenant, of, now }) =>
    endpoints.insertEventSecret(transaction, tenant, {
      endpointId: of.eventEndpoint,
      now,
      overlapEnd: now,
      sealedFor: () => Buffer.from('sealed'),
    }),
  ),
  'event-endpoints.disableEventEndpoint': alters(({ transaction, tenant, of }) =>
    endpoints.disableEventEndpoint(transaction, tenant, of.eventEndpoint, { reason: 'gone' }),
  ),
  'event-endpoints.sealedEventSecrets': finds(({ transaction, tenant }) =>
    endpoints.sealedEventSecrets(transaction, tenant, 0, 100),
  ),
  'event-endpoints.sealEventSecretAnew': alters(({ transaction, tenant, of }) =>
    endpoints.sealEventSecretAnew(transaction, tenant, of.eventSecret, Buffer.from('sealed anew')),
  ),
  'events.listDeliveries': shows(({ transaction, tenant }) =>
    events.listDeliveries(transaction, tenant, {}, { before: null, limit: 50 }),
  ),
  'events.insertTestEvent': alters(({ transaction, tenant, of }) =>
    events.insertTestEvent(transaction, tenant, of.eventEndpoint, 'endpoint.test'),
  ),
  'events.replayDeliveries': alters(({ transaction, tenant, of }) =>
    events.replayDeliveries(transaction, tenant, of.eventEndpoint, { eventId: of.event, most: 10 }),
  ),
  'events.pruneEvents': alters(({ transaction, tenant, now }) =>
    events.pruneEvents(transaction, tenant, new Date(now.getTime() + 1000)),
  ),
  // Both do something where there is something due: a replay is asked for first, by whose it is.
  'events.claimDeliveries': {
    ...alters(async ({ database, tenant, of }) => {
      await database.inTenant(tenant, (transaction) =>
        events.replayDeliveries(transaction, tenant, of.eventEndpoint, { eventId: of.event, most: 10 }),
      )
      return events.claimDeliveries(database, tenant, of.eventEndpoint, { most: 1, leaseSeconds: 30 })
    }),
    commits: true,
  },
  'events.settleDelivery': {
    ...alters(async ({ database, tenant, of }) => {
      await database.inTenant(tenant, (transaction) =>
        events.replayDeliveries(transaction, tenant, of.eventEndpoint, { eventId: of.event, most: 10 }),
      )
      return events.settleDelivery(
        database,
        tenant,
        of.eventEndpoint,
        { number: of.eventNumber, attempt: 0 },
        { state: 'dead', retrySeconds: null, status: 500, text: '', failure: null, ms: 1 },
      )
    }),
    commits: true,
  },
}
