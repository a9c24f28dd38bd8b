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

/** One call to an address under /api/integrations, as its caller saw it answered. */
export const IntegrationCall = Type.Object({
  call_id: Type.Integer({ description: 'Counts up in the order in which calls were written down' }),
  at: Type.String({ format: 'date-time', description: 'When the request arrived' }),
  operation: Type.String({ description: 'What was called, such as shipment-update, markup or lane-insight' }),
  method: Type.String(),
  path: Type.String(),
  query: nullable(
    Type.String({
      description:
        'The parameters that name a lane and a rate, as in an address, at most 300 characters; nothing else of the query is kept',
    }),
  ),
  status: Type.Integer({
    description: 'The HTTP status it was answered with; 499 when the caller did not wait for the answer',
  }),
  problem: nullable(
    Type.String({ description: 'The code of the refusal, as under /problems; null when there was none' }),
  ),
  detail: nullable(Type.String({ description: 'Why it was refused, in the words the caller was sent' })),
  request_id: Type.String(),
  token: {
    ...nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
    description: 'The service token it came with; null for a call with the token of a dashboard sign-in',
  },
  ms: Type.Number({ description: 'Milliseconds until it was answered' }),
  network: Type.String({ description: 'Where it came from: an IPv4 address or an IPv6 /64' }),
  not_kept: Type.Integer({
    description:
      'Further calls refused at about the same time that were counted and not written down: 0 but in a flood',
  }),
})

export const listIntegrationCalls = endpoint({
  name: 'list-integration-calls',
  method: 'GET',
  path: '/api/integration-calls',
  summary: 'The last calls to the integration interface',
  description: `Every call that came with a token of this brokerage, refused ones too, newest first: the last ${callsKeptPerTenantMax.toLocaleString('en-US')} of ${callsKeptDaysMax} days. Neither headers nor bodies are kept. A call is listed about a second after it was answered. It is a log for finding mistakes, not the audit trail: after a crash or while the database is away some calls are missing, and of a flood most are only counted.`,
  tag: 'Credentials',
  who: admin,
  query: Type.Object({
    outcome: Type.Optional(
      oneOf('refused: only calls answered with a status of 400 or above; ok: only the others', [
        'refused',
        'ok',
      ]),
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
        description: 'next_cursor of the page before',
        maxLength: 200,
        'x-expected': 'the next_cursor of the page before',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Calls a page; ${pageSizeDefault} when absent`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({ calls: Type.Array(IntegrationCall), next_cursor: nullable(Type.String()) }),
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
      next_cursor: null,
    },
  },
})

export const getRateLimit = endpoint({
  name: 'get-rate-limit',
  method: 'GET',
  path: '/api/rate-limit',
  summary: 'What is left of the rate limit right now',
  description:
    'How many calls to the integration interface the brokerage may still make in this second, and how many it made in the last 60 seconds. Looking takes nothing. It covers the instance that answers: a service that runs as several counts in each of them, and a restart starts from zero.',
  tag: 'Credentials',
  who: admin,
  status: 200,
  answer: Type.Object({
    limit: Type.Integer({ description: 'Calls in any one window, over all tokens of the brokerage' }),
    window_seconds: Type.Integer(),
    remaining: Type.Integer({ description: 'Calls that would be let in now' }),
    requests_last_minute: Type.Integer({
      description: 'Calls answered in the last 60 seconds, refused ones too',
    }),
    refused_last_minute: Type.Integer({
      description: 'Those of them that were refused for this limit (429)',
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
