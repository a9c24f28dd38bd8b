import type { Static } from 'typebox'
import { type FieldError, invalid, Problem, problem } from '#contract/errors.ts'
import * as contract from '#contract/event-endpoints.ts'
import { type EventType, eventTypes, testEventType } from '#contract/event-types.ts'
import { readTime } from '#contract/fields.ts'
import {
  eventEndpointsMax,
  eventTestsPerSecondMax,
  pageSizeDefault,
  replayedEventsMax,
  secretOverlapHoursDefault,
} from '#contract/limits.ts'
import { issueEventSecret } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import type { Config } from '../../configuration/index.ts'
import { eventEndpoints as endpoints, events } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { allowedPrivate, outboundTarget } from '../../security/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

const warning = 'This secret is shown once. Store it now; it cannot be shown again.'
const hourMs = 3_600_000

function endpointAnswer(endpoint: endpoints.ListedEndpoint): Static<typeof contract.EventEndpoint> {
  if (endpoint.state === 'removed') throw new Error('An address that was removed is shown to nobody.')
  return {
    id: endpoint.endpoint_id,
    url: endpoint.url,
    description: endpoint.description,
    event_types: eventTypes.filter((type) => endpoint.event_types.includes(type)),
    state: endpoint.state,
    disabled_reason: endpoint.disabled_reason,
    created_at: endpoint.created_at.toISOString(),
    waiting: endpoint.waiting,
    dead: endpoint.dead,
    secrets: endpoint.secrets.map(({ secretId, createdAt, expiresAt }) => ({
      id: secretId,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt?.toISOString() ?? null,
    })),
  }
}

/** An endpoint as it is after the change in this transaction. */
async function shownEndpoint(
  transaction: TenantTransaction,
  tenant: TenantId,
  endpointId: number,
  now: Date,
) {
  const all = await endpoints.listEventEndpoints(transaction, tenant, now)
  const endpoint = all.find(({ endpoint_id }) => endpoint_id === endpointId)
  if (endpoint === undefined) throw new Error('An address is not among those of its brokerage.')
  return endpointAnswer(endpoint)
}

const noEndpoint = (id: number) => problem('not-found', `There is no event endpoint ${id} in this brokerage.`)

async function lockedEndpoint(transaction: TenantTransaction, tenant: TenantId, id: number) {
  const endpoint = await endpoints.lockEventEndpoint(transaction, tenant, id)
  if (endpoint === null) throw noEndpoint(id)
  return endpoint
}

function requireEvents({ events: on }: Config): NonNullable<Config['events']> {
  if (on === null) {
    throw problem('events-off', 'The operator of this service has not turned events on (EVENTS=on).')
  }
  return on
}

/** Normalizes a URL and checks that events may be sent to it. The host name's addresses are checked later, before each request. */
function readUrl(text: string, { events: on }: Config): string {
  const target = outboundTarget(text, allowedPrivate(on?.allowPrivate ?? []))
  if (typeof target !== 'string') return target.url.href
  const detail = `url ${target}.`
  const error: FieldError = { pointer: '/url', code: 'invalid', detail }
  throw new Problem('url-not-allowed', detail, { errors: [error] })
}

function deliveryAnswer(delivery: events.DeliveryRow): Static<typeof contract.EventDelivery> {
  const { lane: quote } = delivery.about as events.EventFacts
  return {
    event_id: delivery.event_id,
    endpoint_id: delivery.endpoint_id,
    type: delivery.type,
    lane_ref: quote?.lane_ref ?? null,
    occurred_at: delivery.occurred_at.toISOString(),
    state: delivery.state,
    attempts: delivery.attempts,
    next_at: delivery.state === 'due' ? delivery.next_at.toISOString() : null,
    attempted_at: delivery.attempted_at?.toISOString() ?? null,
    status: delivery.response_status,
    answer: delivery.response_text,
    failure: delivery.failure,
    ms: delivery.duration_ms,
  }
}

function readCursor(text: string | undefined): events.DeliveryPlace | null {
  if (text === undefined) return null
  const [, eventNumber, endpointId] = /^(\d{1,15})-(\d{1,9})$/.exec(text) ?? []
  if (eventNumber !== undefined && endpointId !== undefined) {
    return { eventNumber: Number(eventNumber), endpointId: Number(endpointId) }
  }
  throw invalid([
    { parameter: 'cursor', code: 'invalid', detail: 'cursor must be the next_cursor of the previous page.' },
  ])
}

export const eventEndpoints: ServedEndpoint[] = [
  serve(contract.addEventEndpoint, async (call, { database, config, secretKeys }) => {
    const { caller, body, now } = call
    requireEvents(config)
    const url = readUrl(body.url, config)
    const at = new Date(now)
    return database.inTenant(caller.tenant, async (transaction) => {
      if ((await endpoints.lockEventEndpointCount(transaction, caller.tenant)) >= eventEndpointsMax) {
        throw problem(
          'too-many-event-endpoints',
          `The brokerage already has ${eventEndpointsMax} event endpoints, which is the maximum.`,
        )
      }
      const made = await endpoints.insertEventEndpoint(transaction, caller.tenant, {
        url,
        description: body.description ?? null,
        eventTypes: body.event_types ?? eventTypes,
        userId: caller.userId,
        now: at,
      })
      const of = { tenant: caller.tenant, endpointId: made.endpoint_id, now: at, overlapEnd: at }
      const { plaintext } = await issueEventSecret(transaction, of, secretKeys)
      const endpoint = await shownEndpoint(transaction, caller.tenant, made.endpoint_id, at)
      const about = { endpoint_id: made.endpoint_id, url: hostOf(url) }
      await recordEvent(transaction, call, 'event-endpoint-added', { about })
      return { endpoint, secret: plaintext, warning }
    })
  }),

  serve(contract.listEventEndpoints, async ({ caller, now }, { database, config }) => ({
    events_on: config.events !== null,
    endpoints: (
      await database.inTenant(caller.tenant, (transaction) =>
        endpoints.listEventEndpoints(transaction, caller.tenant, new Date(now)),
      )
    ).map(endpointAnswer),
  })),

  serve(contract.changeEventEndpoint, async (call, { database, config }) => {
    const { caller, params, body, now } = call
    const url = body.url === undefined ? undefined : readUrl(body.url, config)
    return database.inTenant(caller.tenant, async (transaction) => {
      const was = await lockedEndpoint(transaction, caller.tenant, params.id)
      const state = body.state ?? was.state
      const next = {
        url: url ?? was.url,
        description: body.description ?? was.description,
        event_types: body.event_types ?? was.event_types,
        state,
        disabled_reason: state === 'disabled' ? was.disabled_reason : null,
      }
      await endpoints.updateEventEndpoint(transaction, caller.tenant, params.id, next)
      const changed = [
        ...(next.url === was.url ? [] : ['url']),
        ...(next.description === was.description ? [] : ['description']),
        ...(sameTypes(next.event_types, was.event_types) ? [] : ['event_types']),
        ...(next.state === was.state ? [] : ['state']),
      ]
      const endpoint = await shownEndpoint(transaction, caller.tenant, params.id, new Date(now))
      if (changed.length > 0) {
        await recordEvent(transaction, call, 'event-endpoint-changed', {
          about: { endpoint_id: params.id, url: hostOf(next.url), state, changed: changed.join(', ') },
        })
      }
      return endpoint
    })
  }),

  serve(contract.removeEventEndpoint, async (call, { database }) => {
    const { caller, params } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const { url } = await lockedEndpoint(transaction, caller.tenant, params.id)
      await endpoints.removeEventEndpoint(transaction, caller.tenant, params.id)
      const about = { endpoint_id: params.id, url: hostOf(url) }
      await recordEvent(transaction, call, 'event-endpoint-removed', { about })
      return { id: params.id }
    })
  }),

  serve(contract.rotateEventSecret, async (call, { database, secretKeys }) => {
    const { caller, params, body, now } = call
    const overlapEnd = new Date(now + (body.overlap_hours ?? secretOverlapHoursDefault) * hourMs)
    const at = new Date(now)
    return database.inTenant(caller.tenant, async (transaction) => {
      const { url } = await lockedEndpoint(transaction, caller.tenant, params.id)
      const of = { tenant: caller.tenant, endpointId: params.id, now: at, overlapEnd }
      const { plaintext } = await issueEventSecret(transaction, of, secretKeys)
      const endpoint = await shownEndpoint(transaction, caller.tenant, params.id, at)
      await recordEvent(transaction, call, 'event-secret-rotated', {
        about: { endpoint_id: params.id, url: hostOf(url), ends_at: overlapEnd.toISOString() },
      })
      return { endpoint, secret: plaintext, warning }
    })
  }),

  serve(contract.testEventEndpoint, async ({ caller, params }, parts) => {
    requireEvents(parts.config)
    const { admitted, retryAfterMs } = parts.eventTestLimit.admit(caller.tenant, parts.monotonic())
    if (!admitted) throw tooManyTests(retryAfterMs)
    return parts.database.inTenant(caller.tenant, async (transaction) => {
      requireActive(await lockedEndpoint(transaction, caller.tenant, params.id))
      return {
        event_id: await events.insertTestEvent(transaction, caller.tenant, params.id, testEventType),
      }
    })
  }),

  serve(contract.replayEvents, async (call, { database, config }) => {
    const { caller, params, body } = call
    requireEvents(config)
    if ((body.event_id === undefined) === (body.since === undefined)) {
      throw invalid([
        {
          pointer: '/event_id',
          code: 'invalid',
          detail: 'Send either event_id, for one event, or since, for all events from that time on.',
        },
      ])
    }
    const asked = {
      ...(body.event_id === undefined ? {} : { eventId: body.event_id }),
      ...(body.since === undefined ? {} : { since: new Date(readTime(body.since) ?? 0) }),
      onlyDead: body.only_dead === true,
      most: replayedEventsMax,
    }
    return database.inTenant(caller.tenant, async (transaction) => {
      const { url } = requireActive(await lockedEndpoint(transaction, caller.tenant, params.id))
      const replayed = await events.replayDeliveries(transaction, caller.tenant, params.id, asked)
      if (replayed > 0) {
        const about = { endpoint_id: params.id, url: hostOf(url), count: replayed }
        await recordEvent(transaction, call, 'events-replayed', { about })
      }
      return { replayed }
    })
  }),

  serve(contract.listEventDeliveries, async ({ caller, query }, { database }) => {
    const limit = query.limit ?? pageSizeDefault
    const filter = {
      ...(query.endpoint_id === undefined ? {} : { endpointId: query.endpoint_id }),
      ...(query.state === undefined ? {} : { state: query.state }),
    }
    const before = readCursor(query.cursor)
    const rows = await database.inTenant(caller.tenant, (transaction) =>
      events.listDeliveries(transaction, caller.tenant, filter, { before, limit: limit + 1 }),
    )
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      deliveries: page.map(deliveryAnswer),
      next_cursor:
        rows.length > limit && last !== undefined ? `${last.event_number}-${last.endpoint_id}` : null,
    }
  }),
]

/** The URL for the audit log, without its query, which may contain a secret of the receiver. */
const hostOf = (url: string) => new URL(url).host

const tooManyTests = (waitMs: number) =>
  problem(
    'too-many-attempts',
    `A brokerage may send ${eventTestsPerSecondMax} test event per second; wait and send this one again.`,
    { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } },
  )

const sameTypes = (one: readonly string[], other: readonly string[]) =>
  eventTypes.every((type: EventType) => one.includes(type) === other.includes(type))

function requireActive(endpoint: endpoints.EventEndpointRow): endpoints.EventEndpointRow {
  if (endpoint.state === 'active') return endpoint
  throw problem('state-conflict', `Address ${endpoint.endpoint_id} is ${endpoint.state}. Switch it on first.`)
}
