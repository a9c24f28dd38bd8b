import { allEndpoints } from './all-endpoints.ts'
import { type Endpoint, underTenantLimit } from './endpoint.ts'
import { type ProblemCode, problemContentType, problems, problemType } from './errors.ts'
import { eventBodies } from './events.ts'
import { signatureToleranceSeconds } from './limits.ts'
import {
  answerHeadersOf,
  refusalHeadersOf,
  requestHeaders,
  responseHeaders,
  signatureName,
  timestampName,
} from './openapi-headers.ts'
import { type DocumentSchemas, documentSchemas, type Json } from './openapi-schemas.ts'

/**
 * The OpenAPI 3.1 document of the whole API, made from the endpoints: nothing in it is said a second time.
 *
 * @example openApiDocument('0.1.0').paths['/api/integrations/insights/markup'].get.operationId // 'markup'
 */
export function openApiDocument(version: string): Json {
  const named = documentSchemas()
  const paths: Record<string, Json> = {}
  for (const endpoint of allEndpoints as readonly Endpoint[]) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operation(endpoint, named),
    }
  }
  const webhooks = Object.fromEntries(
    Object.entries(eventBodies).map(([type, event]) => [type, { post: webhook(type, event, named) }]),
  )
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
    webhooks,
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
          name: signatureName,
          description:
            'sha256= and the lowercase hex HMAC-SHA256 of "<timestamp>.<body>" over the exact bytes of the body, with the whole signing secret as key.',
        },
        timestamp: {
          type: 'apiKey',
          in: 'header',
          name: timestampName,
          description: 'Unix time in seconds, within 5 minutes of the server clock.',
        },
      },
      schemas: { ...named.schemas, ...problemSchemas },
      parameters: requestHeaders,
      headers: responseHeaders,
      examples: Object.fromEntries(
        (allEndpoints as readonly Endpoint[])
          .flatMap(problemsOf)
          .map((code) => [code, { summary: problems[code].title, value: problemExample(code) }]),
      ),
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

/** The words of a name as generators of code write types. @example pascalCase('lane.outcome_changed') // 'LaneOutcomeChanged' */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[-._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'Any refusal or failure, as RFC 9457 has it. Some have members of their own beside these.',
    required: ['type', 'code', 'title', 'status', 'detail', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Ends with the code' },
      code: {
        type: 'string',
        pattern: '^[a-z]+(-[a-z]+)*$',
        description: 'What to tell problems apart by; each has a page under /problems. New ones may come.',
      },
      title: { type: 'string', description: 'The problem in a few words, for people' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string', description: 'What was wrong with this request, for people' },
      request_id: { type: 'string', description: 'The same as in the header Request-Id' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/FieldError' } },
      server_time: {
        type: 'integer',
        description: 'With timestamp-out-of-window: the clock of the server in Unix seconds, to set yours by',
      },
      max_skew_seconds: {
        type: 'integer',
        description: 'With timestamp-out-of-window: how far the two may be apart',
      },
      'violated-policies': {
        type: 'array',
        items: { type: 'string' },
        description: 'With quota-exceeded: which limit was reached',
      },
    },
    additionalProperties: true,
  },
  FieldError: {
    type: 'object',
    description: 'One field that was wrong: pointer into the body, or the parameter of the address',
    required: ['code', 'detail'],
    properties: {
      pointer: { type: 'string', format: 'json-pointer' },
      parameter: { type: 'string' },
      code: { type: 'string' },
      detail: { type: 'string', description: 'What was sent and what would be right' },
      suggestions: {
        type: 'array',
        items: { type: 'string' },
        description: 'What may have been meant, best first, each to be sent as it is',
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

function operation(endpoint: Endpoint, named: DocumentSchemas): Json {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => problems[code].status)
  const isCsv = endpoint.answerKind === 'csv'
  const answer = isCsv
    ? named.part(endpoint.answer, 'answer')
    : named.named(`${pascalCase(endpoint.name)}Answer`, endpoint.answer, 'answer')
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    description: endpoint.description,
    tags: [endpoint.tag],
    security: securityOf(endpoint),
    parameters: parametersOf(endpoint, named),
    ...(endpoint.body === undefined ? {} : { requestBody: requestBody(endpoint, named) }),
    responses: {
      [endpoint.status]: {
        description: endpoint.summary,
        headers: answerHeadersOf(endpoint),
        content: {
          [isCsv ? 'text/csv' : 'application/json']: {
            schema: answer,
            ...(endpoint.examples?.answer === undefined ? {} : { example: endpoint.examples.answer }),
          },
        },
      },
      ...Object.fromEntries(
        [...byStatus].map(([status, codes]) => [
          status,
          {
            description: codes.map((code) => `${code}: ${problems[code].title}.`).join(' '),
            headers: refusalHeadersOf(endpoint, status),
            content: {
              [problemContentType]: {
                schema: { $ref: '#/components/schemas/Problem' },
                examples: Object.fromEntries(
                  codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
                ),
              },
            },
          },
        ]),
      ),
    },
  }
}

/** An event, as the request that a receiver gets. */
function webhook(
  type: string,
  event: (typeof eventBodies)[keyof typeof eventBodies],
  named: DocumentSchemas,
): Json {
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
      content: {
        'application/json': {
          schema: named.named(`${pascalCase(type)}Event`, event.schema, 'answer'),
          example: event.example,
        },
      },
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
    code,
    title,
    status,
    detail: remedy,
    request_id: '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
    ...ownMembers[code],
  }
}

/** What the examples of some problems hold beside what every problem has. */
const ownMembers: { readonly [Code in ProblemCode]?: Json } = {
  'validation-failed': {
    detail:
      'customer_rate must be a number of dollars from 0 to 9,999,999.99 with at most two decimals; it is -5.',
    errors: [
      {
        pointer: '/customer_rate',
        code: 'invalid',
        detail:
          'customer_rate must be a number of dollars from 0 to 9,999,999.99 with at most two decimals; it is -5.',
      },
    ],
  },
  'unknown-field': {
    detail: '"lanes[0].quotedRate" is not a field of this request.',
    errors: [
      {
        pointer: '/lanes/0/quotedRate',
        code: 'unknown',
        detail: '"lanes[0].quotedRate" is not a field of this request.',
      },
    ],
  },
  'quota-exceeded': {
    detail: 'Your brokerage has made 10 requests within a second; wait and send this one again.',
    'violated-policies': ['tenant'],
  },
  'timestamp-out-of-window': {
    detail: 'X-Service-Timestamp is 412 seconds behind the server clock; at most 300 are allowed.',
    server_time: 1_772_373_600,
    max_skew_seconds: signatureToleranceSeconds,
  },
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

interface ParametersSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly required?: readonly string[]
}

function parametersOf(endpoint: Endpoint, named: DocumentSchemas): Json[] {
  const list = (where: 'path' | 'query', schema: ParametersSchema = {}) =>
    Object.entries(schema.properties ?? {}).map(([name, property]) => ({
      name,
      in: where,
      required: where === 'path' || schema.required?.includes(name) === true,
      ...(property.description === undefined ? {} : { description: property.description }),
      schema: named.part({ ...property, description: undefined }, 'answer', name),
      ...(endpoint.examples?.query?.[name] === undefined ? {} : { example: endpoint.examples.query[name] }),
    }))
  const isSigned = endpoint.who.kind === 'service' && endpoint.who.signed
  const headers = [
    ...(isSigned ? (['ServiceTimestamp', 'ServiceSignature'] as const) : []),
    'Prefer',
  ] as const
  return [
    ...list('path', endpoint.params),
    ...list('query', endpoint.query),
    ...headers.map((name) => ({
      $ref: `#/components/parameters/${name satisfies keyof typeof requestHeaders}`,
    })),
  ]
}

function requestBody({ name, body, bodyKind, examples }: Endpoint, named: DocumentSchemas): Json {
  const example = examples?.body === undefined ? {} : { example: examples.body }
  if (bodyKind === 'csv') {
    return { required: true, content: { 'text/csv': { schema: named.part(body, 'body'), ...example } } }
  }
  const needed = (body as { required?: readonly string[] }).required ?? []
  const schema = named.named(`${pascalCase(name)}Body`, body, 'body')
  return { required: needed.length > 0, content: { 'application/json': { schema, ...example } } }
}
