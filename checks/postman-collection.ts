import { openApiDocument } from '#contract/openapi.ts'
import type { Signs } from '#contract/signature.ts'

/** The parts of the OpenAPI document that the collection uses. */
interface Document {
  readonly info: { readonly title: string; readonly description: string; readonly version: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> }
  readonly responses: Readonly<Record<string, unknown>>
  readonly 'x-signs'?: Signs
}
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly example?: unknown
}
interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The folder whose requests run in order, from credentials to a booked margin. */
export const postmanWalk = 'From a sign-in to a booked margin'
const walk = [
  'sign-in',
  'create-service-token',
  'create-signing-secret',
  'create-quote-request',
  'shipment-update',
  'markup',
  'lane-insight',
  'get-lane',
]

/** Values of a response that later requests need: the collection variable and the path in the response. */
const kept: Readonly<Record<string, readonly [variable: string, path: string]>> = {
  'sign-in': ['dashboard_token', 'token'],
  'create-service-token': ['service_token', 'token'],
  'create-signing-secret': ['signing_secret', 'secret'],
  'create-quote-request': ['lane_ref', 'lanes[0].lane_ref'],
}

/** Body members that are collection variables instead of example values. */
const variableMembers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sign-in': { email: '{{email}}', password: '{{password}}' },
  // A new name for every run, because a brokerage can have only two live secrets with one name.
  'create-signing-secret': { name: 'Postman {{$timestamp}}' },
  'shipment-update': { lane_ref: '{{lane_ref}}' },
}

/** Signs the request: substitutes the variables in the body, signs that text, and sends exactly that text. */
const signing = (signs: Signs) => [
  "const cryptoJs = require('crypto-js')",
  'const body = pm.variables.replaceIn(pm.request.body.raw)',
  'pm.request.body.raw = body',
  'const timestamp = String(Math.floor(Date.now() / 1000))',
  signs === 'body'
    ? "const text = timestamp + '.' + body"
    : "const text = timestamp + '.' + pm.request.method + ' ' + pm.variables.replaceIn(pm.request.url.getPathWithQuery()) + '\\n' + body",
  "const digest = cryptoJs.HmacSHA256(text, pm.variables.get('signing_secret'))",
  "pm.request.headers.upsert({ key: 'X-Service-Timestamp', value: timestamp })",
  "pm.request.headers.upsert({ key: 'X-Service-Signature', value: 'sha256=' + digest.toString(cryptoJs.enc.Hex) })",
]

/**
 * Returns a Postman collection (2.1) of the whole API, generated from the OpenAPI document: one folder to run from end to end,
 * and one folder per tag.
 *
 * @example postmanCollection('0.1.0').info.name // 'Lanewise'
 */
export function postmanCollection(version: string) {
  const document = openApiDocument(version) as unknown as Document
  const placed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const named = (name: string) => placed.filter(({ operation }) => operation.operationId === name)
  return {
    info: {
      name: document.info.title,
      description: `${document.info.description} Set base_url, email and password, then run the folder "${postmanWalk}".`,
      version: document.info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: Object.entries({
      base_url: 'http://127.0.0.1:8080',
      email: 'ana@example.com',
      password: '',
      dashboard_token: '',
      service_token: '',
      signing_secret: '',
      lane_ref: '',
    }).map(([key, value]) => ({ key, value })),
    item: [
      {
        name: postmanWalk,
        description: 'Each request passes its token, secret or lane_ref on to the following requests.',
        item: walk.flatMap(named).map(request),
      },
      ...document.tags.map(({ name, description }) => ({
        name,
        description,
        item: placed.filter(({ operation }) => operation.tags.includes(name)).map(request),
      })),
    ],
  }
}

function request({ path, method, operation }: Placed) {
  const { operationId, summary, description, security, parameters = [], 'x-signs': signs } = operation
  const [needed = {}] = security
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200'
  const variable = kept[operationId]
  const tests = [
    `pm.test('returns ${status}', () => pm.response.to.have.status(${status}))`,
    ...(variable === undefined
      ? []
      : [
          `if (pm.response.code === ${status}) pm.collectionVariables.set('${variable[0]}', pm.response.json().${variable[1]})`,
        ]),
  ]
  return {
    name: summary,
    request: {
      method: method.toUpperCase(),
      description,
      auth: authOf(needed),
      header: contentType(operation),
      ...bodyOf(operation),
      url: urlOf(path, parameters),
    },
    event: [...(signs === undefined ? [] : [script('prerequest', signing(signs))]), script('test', tests)],
  }
}

function script(listen: string, lines: readonly string[]) {
  return { listen, script: { type: 'text/javascript', exec: lines } }
}

function authOf(needed: Readonly<Record<string, unknown>>) {
  const variable = 'service' in needed ? 'service_token' : 'dashboard' in needed ? 'dashboard_token' : null
  return variable === null
    ? { type: 'noauth' }
    : { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] }
}

function contentType({ requestBody }: Operation) {
  return Object.keys(requestBody?.content ?? {}).map((value) => ({ key: 'Content-Type', value }))
}

function bodyOf({ operationId, requestBody }: Operation) {
  const [content] = Object.entries(requestBody?.content ?? {})
  if (content === undefined) return {}
  const [type, { example }] = content
  if (type !== 'application/json') return { body: { mode: 'file', file: { src: '' } } }
  const members = { ...(example ?? {}), ...variableMembers[operationId] }
  return {
    body: { mode: 'raw', raw: JSON.stringify(members, null, 2), options: { raw: { language: 'json' } } },
  }
}

function urlOf(path: string, parameters: readonly Parameter[]) {
  const steps = path.slice(1).replaceAll(/\{(\w+)\}/g, ':$1')
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, required, description, example }) => ({
      key: name,
      value: example === undefined ? '' : String(example),
      ...(description === undefined ? {} : { description }),
      ...(required || example !== undefined ? {} : { disabled: true }),
    }))
  const variable = parameters
    .filter((one) => one.in === 'path')
    .map(({ name }) => ({ key: name, value: name === 'lane_ref' ? '{{lane_ref}}' : '' }))
  const sent = query.filter((one) => !('disabled' in one)).map(({ key, value }) => `${key}=${value}`)
  return {
    raw: `{{base_url}}/${steps}${sent.length === 0 ? '' : `?${sent.join('&')}`}`,
    host: ['{{base_url}}'],
    path: steps.split('/'),
    ...(query.length === 0 ? {} : { query }),
    ...(variable.length === 0 ? {} : { variable }),
  }
}
