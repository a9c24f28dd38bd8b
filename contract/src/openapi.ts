import { allEndpoints } from './all-endpoints.ts'
import { bodyKeysMaxOf } from './body-keys.ts'
import { type CodeCall, type CodeLanguage, codeLanguages, codeOf, exampleBase } from './code-samples.ts'
import { bodyBytesMaxOf, type Endpoint, readsOnly, signsOf, underTenantLimit } from './endpoint.ts'
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
import { readingScopes, tokenScopeNames, tokenScopes } from './token-scopes.ts'

/**
 * The OpenAPI 3.1 document of the whole API, generated from the endpoint declarations. `revision` is the commit of the service.
 *
 * @example openApiDocument('0.1.0').paths['/api/integrations/insights/markup'].get.operationId // 'markup'
 */
export function openApiDocument(version: string, revision?: string): Json {
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
      ...(revision === undefined ? {} : { 'x-revision': revision }),
      summary: 'Freight quoting and pricing intelligence',
      description:
        'Saves the quotes of a freight brokerage, records actual bookings, and returns win probabilities of rates and insight about lanes. Amounts are in dollars, times are ISO 8601 in UTC. The rate limit is ten requests per second and brokerage, over all addresses under /api/integrations.',
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
          description: `A service token, created by an admin or owner, with one or more scopes. ${tokenScopeNames
            .map((name) => `${name}: ${tokenScopes[name].permits}`)
            .join(' ')}`,
        },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: signatureName,
          description:
            'sha256= and the lowercase hex HMAC-SHA256 of the signed text over the exact bytes of the body, with the whole signing secret as key. Each operation states its signed text.',
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
  Integration: 'Operations for a TMS, a load board or a quoting tool, with a service token.',
  Credentials:
    'Service tokens and signing secrets, which an admin or owner creates, lists, rotates and revokes, and the log of calls that used them.',
  'Test brokerage':
    'A brokerage for tests: its own data, tokens and rate limit, the same code. An admin enters and resets it.',
  Events:
    'Webhook events, if the operator has switched them on, and the addresses that they are sent to. Signed as specified by Standard Webhooks.',
  'Sign-in': 'Brokerages, sign-in and sessions.',
  People: 'The people of a brokerage, their roles, and its settings.',
  Quotes:
    'Quote requests, quotes, outcomes, shipments, the history of changes, and pricing advice for the dashboard.',
  Performance: 'Win rate and margin by lane, customer, rep, equipment and month.',
  Customers: 'Customers with their figures, tiers and payment terms, and names that mean the same customer.',
  Market: 'Market rates of the brokerage, and how its own rates compare with them.',
  Rules: 'Pricing rules of the brokerage, and the approval of quotes outside them.',
  Imports: 'Past quotes and bookings from a CSV file.',
}

/**
 * Converts a name to PascalCase, as code generators name types.
 *
 * @example pascalCase('lane.outcome_changed') // 'LaneOutcomeChanged'
 */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[-._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'Any error response, as specified by RFC 9457. Some problems have additional members.',
    required: ['type', 'code', 'title', 'status', 'detail', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Ends with the code' },
      code: {
        type: 'string',
        pattern: '^[a-z]+(-[a-z]+)*$',
        description:
          'The code that identifies the problem. Each code has a page under /problems. New codes may be added.',
      },
      title: { type: 'string', description: 'A short title of the problem' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string', description: 'The error in this request, in plain English' },
      request_id: { type: 'string', description: 'The same as in the header Request-Id' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/FieldError' } },
      server_time: {
        type: 'integer',
        description: 'With timestamp-out-of-window: the time of the server clock in Unix seconds',
      },
      max_skew_seconds: {
        type: 'integer',
        description: 'With timestamp-out-of-window: the maximum difference between the two clocks',
      },
      'violated-policies': {
        type: 'array',
        items: { type: 'string' },
        description: 'With quota-exceeded: the exceeded limits',
      },
    },
    additionalProperties: true,
  },
  FieldError: {
    type: 'object',
    description: 'An error in one field: a pointer into the body, or the name of a parameter',
    required: ['code', 'detail'],
    properties: {
      pointer: { type: 'string', format: 'json-pointer' },
      parameter: { type: 'string' },
      code: { type: 'string' },
      detail: { type: 'string', description: 'The value that was sent and the expected form' },
      suggestions: {
        type: 'array',
        items: { type: 'string' },
        description: 'Suggested values, best first. Each can be sent unchanged',
      },
    },
  },
}

/** All problems that an endpoint can return: its own, and those that follow from its callers, parameters and body. */
export function problemsOf(endpoint: Endpoint): ProblemCode[] {
  const { who } = endpoint
  const isJson = endpoint.body !== undefined && endpoint.bodyKind !== 'csv'
  const codes: ProblemCode[] = [
    'malformed-request',
    'duplicate-header',
    'uri-too-long',
    'headers-too-large',
    // Any request may have unknown parameters, to which these rules apply.
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
    ...(who.kind === 'service' ? (['insufficient-scope'] as const) : []),
    ...(who.kind === 'service' && who.signed
      ? ([
          'signature-missing',
          'signature-malformed',
          'signature-mismatch',
          'timestamp-malformed',
          'timestamp-out-of-window',
        ] as const)
      : []),
    ...(underTenantLimit(endpoint) ? (['quota-exceeded'] as const) : []),
    // A request other than GET may have a body, so it can fail for its body even if the endpoint expects none.
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

/** The rights that a caller with a service token needs, in sentences that end an operation's description. */
function rightsSentences(endpoint: Endpoint): string[] {
  const { who, method, path } = endpoint
  if (who.kind !== 'service') return []
  const reading = readingScopes.filter((one) => one !== who.scope)
  const scope = readsOnly(endpoint)
    ? `Requires one of the scopes ${[who.scope, ...reading].join(', ')}.`
    : `Requires the scope ${who.scope}.`
  if (!who.signed) return [scope]
  return [
    scope,
    who.signs === 'body'
      ? 'The signed text is `<timestamp>.<body>`.'
      : `The signed text is \`<timestamp>.${method} ${path}\`${endpoint.query === undefined ? '' : ' with the query as sent'}, a line feed and the body.`,
  ]
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
    description: [endpoint.description, ...rightsSentences(endpoint)].join(' '),
    tags: [endpoint.tag],
    security: securityOf(endpoint),
    ...(signsOf(endpoint) === null ? {} : { 'x-signs': signsOf(endpoint) }),
    'x-codeSamples': codeSamples(endpoint),
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

/** A webhook: the request that an event receiver gets. */
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
        'The id of the event. It is the same for every attempt: ignore an event whose id you have already processed.',
        '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11',
      ),
      header('webhook-timestamp', 'Time of this attempt, in Unix seconds', '1772373600'),
      header(
        'webhook-signature',
        'v1, and the base64 HMAC-SHA256 of "<webhook-id>.<webhook-timestamp>.<body>"; two signatures, separated by a space, during a secret rotation',
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
      '2XX': { description: 'Accepted. The body of the response is ignored.' },
      '410': { description: 'Permanently rejected: the service disables the address.' },
      default: {
        description:
          'Not accepted. The service retries the delivery, as it does without a response within 10 seconds.',
      },
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

/** Additional members in the examples of some problems. */
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
      return [
        endpoint.who.signed
          ? { service: [endpoint.who.scope], signature: [], timestamp: [] }
          : { service: [endpoint.who.scope] },
      ]
  }
}

/** How renderers of the document name the languages of the programs. */
const languageNames: Readonly<Record<CodeLanguage, string>> = {
  curl: 'Shell',
  python: 'Python',
  typescript: 'TypeScript',
}

/** A program in each language that makes the example call of an operation, and signs it if it is signed. */
function codeSamples(endpoint: Endpoint): Json[] {
  const { who, method, examples } = endpoint
  const params = propertiesOf(endpoint.params)
  const query = propertiesOf(endpoint.query)
  const required = (endpoint.query as ParametersSchema | undefined)?.required ?? []
  const asked = {
    ...Object.fromEntries(required.map((name) => [name, exampleOf(name, query[name])])),
    ...examples?.query,
  }
  const call: CodeCall = {
    base: exampleBase,
    method,
    path: endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(exampleOf(name, params[name])),
    ),
    asked: Object.entries(asked)
      .filter(([name]) => query[name] !== undefined)
      .map(([name, value]) => [name, String(value)]),
    token: who.kind === 'anyone' ? null : who.kind === 'service' ? 'LANEWISE_TOKEN' : 'LANEWISE_SIGN_IN',
    signs: signsOf(endpoint),
    ...(endpoint.body === undefined
      ? {}
      : { body: (examples?.body ?? {}) as string | Record<string, unknown> }),
  }
  return codeLanguages.map((language) => ({
    lang: languageNames[language],
    label: language,
    source: codeOf(language, call),
  }))
}

const propertiesOf = (schema: unknown) => (schema as ParametersSchema | undefined)?.properties ?? {}

/** An example of a parameter, for programs: the first permitted value, or a value of its form. */
function exampleOf(name: string, schema: ParameterSchema = {}): string {
  const [first] = schema.examples ?? schema.enum ?? []
  if (first !== undefined) return String(first)
  if (name === 'lane_ref') return '48211093754-1-1'
  return schema.type === 'integer' ? '7' : 'DAT'
}

interface ParameterSchema {
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
}

interface ParametersSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>
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
  const isSigned = signsOf(endpoint) !== null
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

/** The body of an operation, with its limits in words. */
function requestBody(endpoint: Endpoint, named: DocumentSchemas): Json {
  const { name, body, bodyKind, examples } = endpoint
  const example = examples?.body === undefined ? {} : { example: examples.body }
  const count = (most: number) => most.toLocaleString('en-US')
  const bytes = count(bodyBytesMaxOf(endpoint))
  if (bodyKind === 'csv') {
    return {
      required: true,
      description: `At most ${bytes} bytes, compressed and uncompressed.`,
      content: { 'text/csv': { schema: named.part(body, 'body'), ...example } },
    }
  }
  const needed = (body as { required?: readonly string[] }).required ?? []
  const schema = named.named(`${pascalCase(name)}Body`, body, 'body')
  return {
    required: needed.length > 0,
    description: `At most ${bytes} bytes, and ${count(bodyKeysMaxOf(endpoint))} keys in all objects together.`,
    content: { 'application/json': { schema, ...example } },
  }
}
