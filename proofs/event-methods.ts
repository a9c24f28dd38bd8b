import { eventEndpoints as endpoints, events, expiryNotices } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'

/** Database functions for events and event endpoints. See `database-methods.ts`. */
export const eventMethods: Readonly<Record<string, Method>> = {
  'events.insertEvent': changesRows(({ transaction, tenant, ids }) =>
    events.insertEvent(transaction, tenant, { type: 'credential.expiring', about: {} }, [ids.eventEndpoint]),
  ),
  'events.announceToSubscribers': changesRows(({ transaction, tenant }) =>
    events.announceToSubscribers(transaction, tenant, { type: 'credential.expiring', about: {} }),
  ),
  'event-endpoints.listEventEndpoints': returnsCanary(({ transaction, tenant, now }) =>
    endpoints.listEventEndpoints(transaction, tenant, now),
  ),
  'event-endpoints.lockEventEndpoint': returnsCanary(({ transaction, tenant, ids }) =>
    endpoints.lockEventEndpoint(transaction, tenant, ids.eventEndpoint),
  ),
  'event-endpoints.lockEventEndpointCount': returnsResult(({ transaction, tenant }) =>
    endpoints.lockEventEndpointCount(transaction, tenant),
  ),
  'event-endpoints.insertEventEndpoint': returnsResult(({ transaction, tenant, ids, now }) =>
    endpoints.insertEventEndpoint(transaction, tenant, {
      url: 'https://hooks.example.com/',
      description: null,
      eventTypes: ['lane.booked'],
      userId: ids.owner,
      now,
    }),
  ),
  'event-endpoints.updateEventEndpoint': changesRows(({ transaction, tenant, ids }) =>
    endpoints.updateEventEndpoint(transaction, tenant, ids.eventEndpoint, {
      url: 'https://hooks.example.com/',
      description: null,
      event_types: ['lane.booked'],
      state: 'paused',
      disabled_reason: null,
    }),
  ),
  'event-endpoints.removeEventEndpoint': changesRows(({ transaction, tenant, ids }) =>
    endpoints.removeEventEndpoint(transaction, tenant, ids.eventEndpoint),
  ),
  'event-endpoints.insertEventSecret': changesRows(({ transaction, tenant, ids, now }) =>
    endpoints.insertEventSecret(transaction, tenant, {
      endpointId: ids.eventEndpoint,
      now,
      overlapEnd: now,
      sealedFor: () => Buffer.from('sealed'),
    }),
  ),
  'event-endpoints.disableEventEndpoint': changesRows(({ transaction, tenant, ids }) =>
    endpoints.disableEventEndpoint(transaction, tenant, ids.eventEndpoint, { reason: 'gone' }),
  ),
  'event-endpoints.sealedEventSecrets': returnsResult(({ transaction, tenant }) =>
    endpoints.sealedEventSecrets(transaction, tenant, 0, 100),
  ),
  'expiry-notices.announceExpiries': changesRows(({ transaction, tenant }) =>
    expiryNotices.announceExpiries(transaction, tenant, 30),
  ),
  'events.listDeliveries': returnsCanary(({ transaction, tenant }) =>
    events.listDeliveries(transaction, tenant, {}, { before: null, limit: 50 }),
  ),
  'events.insertTestEvent': changesRows(({ transaction, tenant, ids }) =>
    events.insertTestEvent(transaction, tenant, ids.eventEndpoint, 'endpoint.test'),
  ),
  'events.replayDeliveries': changesRows(({ transaction, tenant, ids }) =>
    events.replayDeliveries(transaction, tenant, ids.eventEndpoint, { eventId: ids.event, most: 10 }),
  ),
  'events.pruneEvents': changesRows(({ transaction, tenant, now }) =>
    events.pruneEvents(transaction, tenant, new Date(now.getTime() + 1000)),
  ),
  // Both need a delivery that is due, so the calls request a replay first.
  'events.claimDeliveries': {
    ...changesRows(async ({ database, tenant, ids }) => {
      await database.inTenant(tenant, (transaction) =>
        events.replayDeliveries(transaction, tenant, ids.eventEndpoint, { eventId: ids.event, most: 10 }),
      )
      return events.claimDeliveries(database, tenant, ids.eventEndpoint, { most: 1, leaseSeconds: 30 })
    }),
    commits: true,
  },
  'events.settleDelivery': {
    ...changesRows(async ({ database, tenant, ids }) => {
      await database.inTenant(tenant, (transaction) =>
        events.replayDeliveries(transaction, tenant, ids.eventEndpoint, { eventId: ids.event, most: 10 }),
      )
      return events.settleDelivery(
        database,
        tenant,
        ids.eventEndpoint,
        { number: ids.eventNumber, attempt: 0 },
        { state: 'dead', retrySeconds: null, status: 500, text: '', failure: null, ms: 1 },
      )
    }),
    commits: true,
  },
}
