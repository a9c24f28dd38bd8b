import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId, wholeNumber } from './fields.ts'
import {
  callsKeptDaysMax,
  callsKeptPerTenantMax,
  pageSizeDefault,
  pageSizeMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const

/** One call to an address under /api/integrations, with the response that its caller received. */
export const IntegrationCall = Type.Object({
  call_id: Type.Integer({ description: 'Sequence number, in the order in which calls were logged' }),
  at: Type.String({ format: 'date-time', description: 'Arrival time of the request' }),
  operation: Type.String({ description: 'The operation, such as shipment-update, markup or lane-insight' }),
  method: Type.String(),
  path: Type.String(),
  query: nullable(
    Type.String({
      description:
        'The query parameters that name a lane and a rate, at most 300 characters. Other parameters are not saved',
    }),
  ),
  status: Type.Integer({
    description: 'HTTP status of the response; 499 if the caller disconnected before the response',
  }),
  problem: nullable(
    Type.String({
      description: 'Problem code of the response, as listed under /problems; null if there was no problem',
    }),
  ),
  detail: nullable(
    Type.String({
      description:
        'The problem detail that the caller received; for a shipment update that was answered with 200 and not applied, the reason',
    }),
  ),
  request_id: Type.String(),
  token: {
    ...nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
    description: 'The service token of the call; null for a call with a dashboard token',
  },
  ms: Type.Number({ description: 'Milliseconds until the response' }),
  network: Type.String({ description: 'Source network of the call: an IPv4 address or an IPv6 /64' }),
  not_kept: Type.Integer({
    description:
      'Number of further calls refused at about the same time that were counted but not logged. Above 0 only in a flood of calls',
  }),
})

export const listIntegrationCalls = endpoint({
  name: 'list-integration-calls',
  method: 'GET',
  path: '/api/integration-calls',
  summary: 'Recent calls to the integration interface',
  description: `Every call with a token of this brokerage, including refused calls, newest first: the last ${callsKeptPerTenantMax.toLocaleString('en-US')} within ${callsKeptDaysMax} days. Headers and bodies are not saved. A call is listed about a second after its response. This is a log for debugging, not the audit trail: calls may be missing after a crash or while the database is unavailable, and most calls of a flood are only counted.`,
  tag: 'Credentials',
  who: admin,
  query: Type.Object({
    outcome: Type.Optional(
      oneOf(
        'refused: only calls with a status of 400 or above; ok: only calls with a status below 400; not_applied: only shipment updates that were answered with 200 and not applied',
        ['refused', 'ok', 'not_applied'],
      ),
    ),
    operation: Type.Optional(
      Type.String({
        description: 'Only calls of this operation',
        pattern: '^[a-z]+(-[a-z]+)*$',
        maxLength: 60,
        'x-expected': 'the name of an operation, such as shipment-update',
      }),
    ),
    token_id: Type.Optional({ ...recordId, description: 'Only calls with this service token' }),
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the previous page',
        maxLength: 200,
        'x-expected': 'the next_cursor of the previous page',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Calls per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({
    calls: Type.Array(IntegrationCall),
    updates_not_applied: Type.Integer({
      description:
        'Number of logged calls with shipment updates that were accepted and not applied, whatever the filter',
    }),
    next_cursor: nullable(Type.String()),
  }),
  examples: {
    answer: {
      calls: [
        {
          call_id: 4182,
          at: '2026-03-01T14:00:00.250Z',
          operation: 'shipment-update',
          method: 'POST',
          path: '/api/integrations/tms/shipment-update',
          query: null,
          status: 401,
          problem: 'timestamp-out-of-window',
          detail: 'X-Service-Timestamp is 412 seconds behind the server clock; at most 300 are allowed.',
          request_id: '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
          token: { id: 3, name: 'McLeod production' },
          ms: 3.1,
          network: '192.0.2.7',
          not_kept: 0,
        },
      ],
      updates_not_applied: 0,
      next_cursor: null,
    },
  },
})

export const getRateLimit = endpoint({
  name: 'get-rate-limit',
  method: 'GET',
  path: '/api/rate-limit',
  summary: 'Remaining rate limit',
  description:
    'How many calls to the integration interface the brokerage can still make in this second, and how many it made in the last 60 seconds. This request does not count against the limit. The figures cover only the instance that responds: each instance of the service counts separately, from its start.',
  tag: 'Credentials',
  who: admin,
  status: 200,
  answer: Type.Object({
    limit: Type.Integer({
      description: 'Maximum number of calls per window, over all tokens of the brokerage',
    }),
    window_seconds: Type.Integer(),
    remaining: Type.Integer({ description: 'Number of calls that would be admitted now' }),
    requests_last_minute: Type.Integer({
      description: 'Calls in the last 60 seconds, including refused calls',
    }),
    refused_last_minute: Type.Integer({
      description: 'Calls in the last 60 seconds that exceeded this limit (429)',
    }),
  }),
  examples: {
    answer: {
      limit: tenantRequestsPerWindowMax,
      window_seconds: tenantWindowSeconds,
      remaining: 7,
      requests_last_minute: 212,
      refused_last_minute: 4,
    },
  },
})
