import type { TSchema } from 'typebox'
import { allEndpoints } from './all-endpoints.ts'
import { type Endpoint, underTenantLimit } from './endpoint.ts'
import { type ProblemCode, problemContentType, problems, problemType } from './errors.ts'
import { eventBodies } from './events.ts'

type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document of the whole API, made from the endpoints: nothing in it is said a second time.
 *
 * @example openApiDocument('0.1.0').paths['/api/integrations/insights/markup'].get.operationId // 'markup'
 */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of allEndpoints as readonly Endpoint[]) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lanewise',
      version,
      summary: 'Freight quoting and pricing intelligence',
      description:
        'Keeps the quotes of a freight brokerage, takes in what was really booked, and answers how likely a rate is to win and what is known about a lane. Amounts are dollars, times are ISO 8601 in UTC. Ten requests a second for each brokerage over all addresses under /api/integrations.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(eventBodies).map(([type, event]) => [type, { post: webhook(type, event) }]),
    ),
    components: {
      securitySchemes: {
        dashboard: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token of a dashboard sign-in.',
        },
        service: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A service token, made by an admin or owner.',
        },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Service-Signature',
          description:
            'sha256= and the lowercase hex HMAC-SHA256 of "<timestamp>.<body>" over the exact bytes of the body, with the whole signing secret as key.',
        },
        timestamp: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Service-Timestamp',
          description: 'Unix time in seconds, within 5 minutes of the server clock.',
        },
      },
      schemas: { Problem: problemSchema },
    },
  }
}

const tags: Readonly<Record<Endpoint['tag'], string>> = {
  Integration: 'What a TMS, a load board or a quoting tool calls, with a service token.',
  Credentials:
    'Service tokens and signing secrets: made, listed, rotated and revoked by an admin or owner; and what was called with them.',
  Events:
    'What the service sends of its own accord, where the operator has switched it on, and the addresses it sends to. Signed as Standard Webhooks has it.',
  'Sign-in': 'Brokerages, sign-in and sessions.',
  People: 'The people of a brokerage, their roles, and its settings.',
  Quotes: 'Quote requests, lanes, outcomes, shipments, who changed what, and advice for people.',
  Performance: 'Win rate and margin by lane, customer, rep, equipment and month.',
  Imports: 'Past quotes and bookings from a CSV file.',
}

const problemSchema = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status', 'detail', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string' },
          parameter: { type: 'string' },
          code: { type: 'string' },
          detail: { type: 'string' },
          suggestions: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
}

/** Every problem an endpoint can answer with: those of its own, and those that follow from who may call and what it takes. */
export function problemsOf(endpoint: Endpoint): ProblemCode[] {
  const { who } = endpoint
  const isJson = endpoint.body !== undefined && endpoint.bodyKind !== 'csv'
  const codes: ProblemCode[] = [
    'malformed-request',
    'duplicate-header',
    'uri-too-long',
    'headers-too-large',
    // A parameter that nobody knows may be sent with any request, and is then read by these rules.
    'forbidden-key',
    'unknown-field',
    ...(who.kind === 'anyone'
      ? []
      : ([
          'token-missing',
          'token-malformed',
          'token-invalid',
          'token-expired',
          'token-revoked',
          'token-wrong-kind',
          'too-many-attempts',
        ] as const)),
    ...(who.kind === 'dashboard' && who.role !== 'viewer' ? (['role-required'] as const) : []),
    ...(who.kind === 'dashboard' && endpoint.method !== 'GET' && !underTenantLimit(endpoint)
      ? (['csrf'] as const)
      : []),
    ...(who.kind === 'service' && who.signed
      ? ([
          'insufficient-scope',
          'signature-missing',
          'signature-malformed',
          'signature-mismatch',
          'timestamp-malformed',
          'timestamp-out-of-window',
        ] as const)
      : []),
    ...(underTenantLimit(endpoint) ? (['quota-exceeded'] as const) : []),
    // Whatever may carry a body is told when the body cannot be taken, also where none is asked for.
    ...(endpoint.method === 'GET'
      ? []
      : (['unsupported-media-type', 'body-too-large', 'request-timeout'] as const)),
    ...(endpoint.body === undefined ? [] : (['unsupported-encoding'] as const)),
    ...(isJson ? (['malformed-json', 'duplicate-key'] as const) : []),
    ...(isJson || endpoint.query !== undefined || endpoint.params !== undefined
      ? (['validation-failed'] as const)
      : []),
    ...(endpoint.problems ?? []),
    'request-in-progress',
    'internal',
    'unavailable',
  ]
  return [...new Set(codes)]
}

function operation(endpoint: Endpoint): Json {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => problems[code].status)
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    description: endpoint.description,
    tags: [endpoint.tag],
    security: securityOf(endpoint),
    ...parametersOf(endpoint),
    ...(endpoint.body === undefined ? {} : { requestBody: requestBody(endpoint, endpoint.body) }),
    responses: {
      [endpoint.status]: {
        description: endpoint.summary,
        headers: { 'Request-Id': { schema: { type: 'string' } }, ...limitHeaders(endpoint) },
        content: {
          [endpoint.answerKind === 'csv' ? 'text/csv' : 'application/json']: {
            schema: endpoint.answer,
            ...(endpoint.examples?.answer === undefined ? {} : { example: endpoint.examples.answer }),
          },
        },
      },
      ...Object.fromEntries(
        [...byStatus].map(([status, codes]) => [
          status,
          {
            description: codes.map((code) => `${code}: ${problems[code].title}.`).join(' '),
            content: {
              [problemContentType]: {
                schema: { $ref: '#/components/schemas/Problem' },
                examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code) }])),
              },
            },
          },
        ]),
      ),
    },
  }
}

/** An event, as the request that a receiver gets. */
function webhook(type: string, event: (typeof eventBodies)[keyof typeof eventBodies]): Json {
  const header = (name: string, description: string, example: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
    example,
  })
  return {
    operationId: `event-${type.replaceAll(/[._]/g, '-')}`,
    summary: event.summary,
    description: event.description,
    tags: ['Events' satisfies Endpoint['tag']],
    security: [],
    parameters: [
      header(
        'webhook-id',
        'The event. The same however often it is sent: what was seen before is to be left alone.',
        '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11',
      ),
      header('webhook-timestamp', 'When this attempt was made, in Unix seconds', '1772373600'),
      header(
        'webhook-signature',
        'v1, and the base64 HMAC-SHA256 of "<webhook-id>.<webhook-timestamp>.<body>"; two of them, separated by a space, while a secret is being changed',
        'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      ),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: event.schema, example: event.example } },
    },
    responses: {
      '2XX': { description: 'Taken. The body of the answer does not matter.' },
      '410': { description: 'Never again: the address is disabled.' },
      default: { description: 'Not taken, as is no answer within 10 seconds: it is tried again.' },
    },
  }
}

function problemExample(code: ProblemCode): Json {
  const { title, status, remedy } = problems[code]
  return {
    type: problemType(code),
    title,
    status,
    detail: remedy,
    request_id: '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
  }
}

function limitHeaders(endpoint: Endpoint): Json {
  if (!underTenantLimit(endpoint)) return {}
  return {
    'RateLimit-Policy': { schema: { type: 'string' } },
    RateLimit: { schema: { type: 'string' } },
  }
}

function securityOf(endpoint: Endpoint): Json[] {
  switch (endpoint.who.kind) {
    case 'anyone':
      return []
    case 'dashboard':
      return [{ dashboard: [] }]
    case 'service':
      return [endpoint.who.signed ? { service: [], signature: [], timestamp: [] } : { service: [] }]
  }
}

interface PropertySchema extends Json {
  readonly description?: string
}

function parametersOf(endpoint: Endpoint): Json {
  const list = (where: 'path' | 'query', schema: TSchema | undefined) => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, PropertySchema>
      required?: readonly string[]
    }
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(property.description === undefined ? {} : { description: property.description }),
      schema: property,
      ...(endpoint.examples?.query?.[name] === undefined ? {} : { example: endpoint.examples.query[name] }),
    }))
  }
  const parameters = [...list('path', endpoint.params), ...list('query', endpoint.query)]
  return parameters.length === 0 ? {} : { parameters }
}

function requestBody(endpoint: Endpoint, body: TSchema): Json {
  if (endpoint.bodyKind === 'csv') {
    return { required: true, content: { 'text/csv': { schema: body } } }
  }
  const needed = (body as { required?: readonly string[] }).required ?? []
  return {
    required: needed.length > 0,
    content: {
      'application/json': {
        schema: withNulls(body as unknown as Json),
        ...(endpoint.examples?.body === undefined ? {} : { example: endpoint.examples.body }),
      },
    },
  }
}

/** In a body null is the same as absent, so an optional field may be null. */
function withNulls(schema: Json): Json {
  const { properties, required, items } = schema as {
    properties?: Record<string, Json>
    required?: readonly string[]
    items?: Json
  }
  return {
    ...schema,
    ...(items === undefined ? {} : { items: withNulls(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => {
              const inner = withNulls(property)
              return [name, required?.includes(name) === true ? inner : orNull(inner)]
            }),
          ),
        }),
  }
}

function orNull(schema: Json): Json {
  if (typeof schema.type === 'string') return { ...schema, type: [schema.type, 'null'] }
  return Array.isArray(schema.enum) ? { ...schema, enum: [...schema.enum, null] } : schema
}
