import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { type ProblemCode, problems } from '#contract/errors.ts'
import { openApiDocument } from '#contract/openapi.ts'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { readParameters, shape } from '#contract/shape.ts'
import { resolvedDocument } from '#testing/resolved-document.ts'
import { filesOf, textOf } from './repository.ts'

const endpoints = allEndpoints as readonly Endpoint[]

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}
interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Media>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>
}
const document = openApiDocument('1.0.0') as unknown as Document
/** Throws for a reference without a target. */
const resolved = resolvedDocument(document)
const operations = Object.values(resolved.paths).flatMap((methods) => Object.values(methods))
const operationOf = (name: string) => {
  const found = operations.find(({ operationId }) => operationId === name)
  if (found === undefined) throw new Error(`The document has no operation ${name}.`)
  return found
}
const errorsOf = (schema: Schema, value: unknown) =>
  [...Compile(schema as object).Errors(value)].map(
    ({ instancePath, message }) => `${instancePath} ${message}`,
  )

test('docs/pushing.md states the keys of the pushes', () => {
  const most = ([pushQuotes, pushOutcomes, pushShipmentUpdates] as readonly Endpoint[]).map((endpoint) =>
    bodyKeysMaxOf(endpoint).toLocaleString('en-US'),
  )
  expect(textOf('docs/pushing.md')).toContain(
    `${most[0]} for quotes, ${most[1]} for outcomes, ${most[2]} for shipment updates`,
  )
})

describe('the OpenAPI document', () => {
  // Other tests below check each operation's examples against its schemas without the linter.
  test('is valid OpenAPI 3.1, and its examples fit its schemas', { tags: 'long' }, async () => {
    // Loaded here, because the linter loads longer than the other tests of this file run.
    const { createConfig, lintFromString } = await import('@redocly/openapi-core')
    const problems = await lintFromString({
      source: JSON.stringify(openApiDocument('1.0.0')),
      absoluteRef: 'openapi.json',
      config: await createConfig({
        extends: ['recommended'],
        rules: {
          'no-invalid-media-type-examples': 'error',
          'no-invalid-parameter-examples': 'error',
          'no-invalid-schema-examples': 'error',
          'operation-operationId': 'error',
          'operation-operationId-unique': 'error',
          'path-parameters-defined': 'error',
          'no-unused-components': 'error',
          // The service serves the document itself, so the server URL is not fixed.
          'no-server-example.com': 'off',
        },
      }),
    })
    const messages = problems.map(
      ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
    )
    expect(messages).toEqual([])
  })

  test('has a unique name for each operation, from its contract', () => {
    const names = endpoints.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })

  test('uses schema names that are identifiers in any language', () => {
    const names = Object.keys(document.components.schemas ?? {})
    expect(names).toEqual(
      expect.arrayContaining(['Quote', 'Problem', 'FieldError', 'Dollars', 'Place', 'Import']),
    )
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/)
    for (const kind of ['parameters', 'headers', 'examples']) {
      for (const name of Object.keys(document.components[kind] ?? {})) expect(name).toMatch(/^[A-Za-z0-9-]+$/)
    }
  })

  test('defines each object only once: no two inline objects or components have the same members', () => {
    const places = new Map<string, string[]>()
    const look = (part: unknown, at: string, isComponent: boolean): void => {
      if (typeof part !== 'object' || part === null) return
      const names = Object.keys((part as Schema).properties ?? {})
      if (names.length > 0 && (part as Schema).type === 'object') {
        const key = names.toSorted().join(', ')
        // Two components may have the same member names: their types differ.
        if (!isComponent || !places.has(key)) places.set(key, [...(places.get(key) ?? []), at])
      }
      for (const [name, member] of Object.entries(part)) {
        if (name !== 'example' && name !== 'examples') look(member, `${at}/${name}`, false)
      }
    }
    for (const [name, schema] of Object.entries(document.components.schemas ?? {})) look(schema, name, true)
    look(document.paths, 'paths', false)
    look(document.webhooks, 'webhooks', false)
    expect([...places.values()].filter((found) => found.length > 1)).toEqual([])
    // Make sure that the check has found objects.
    expect(places.size).toBeGreaterThan(80)
  })

  test('declares ids as int64', () => {
    const found: string[] = []
    const look = (schema: Schema | undefined, name: string): void => {
      if (schema === undefined) return
      const isInteger = [schema.type].flat().includes('integer')
      if (isInteger && /(^|_)id$/.test(name)) found.push(`${name} ${schema.format}`)
      for (const [member, inner] of Object.entries(schema.properties ?? {})) look(inner, member)
      for (const one of schema.anyOf ?? []) look(one, name)
      look(schema.items, name)
    }
    for (const { parameters, requestBody, responses } of operations) {
      for (const parameter of parameters) look(parameter.schema, parameter.name)
      for (const { content } of [
        ...(requestBody === undefined ? [] : [requestBody]),
        ...Object.values(responses),
      ]) {
        for (const { schema } of Object.values(content)) look(schema, '')
      }
    }
    expect(found.length).toBeGreaterThan(50)
    expect(found.filter((one) => !one.endsWith(' int64'))).toEqual([])
  })

  test('has one operation per method and path', () => {
    const routes = endpoints.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(routes).size).toBe(routes.length)
  })
})

describe.each(endpoints.map((endpoint) => ({ name: endpoint.name, endpoint })))('$name', ({ endpoint }) => {
  const { examples } = endpoint

  test('has a summary and a description', () => {
    expect(endpoint.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/)
  })

  if (endpoint.body !== undefined && endpoint.bodyKind !== 'csv') {
    const { body } = endpoint
    test('has an example of its body, and accepts it', () => {
      expect(examples?.body).toBeDefined()
      expect(shape(body, 'body').errors(examples?.body)).toEqual([])
    })
  }

  if (examples?.query !== undefined && endpoint.query !== undefined) {
    const { query } = endpoint
    test('accepts its example query, as text from a URL', () => {
      const sent = Object.fromEntries(
        Object.entries(examples.query ?? {}).map(([name, value]) => [name, String(value)]),
      )
      expect(shape(query, 'parameter').errors(readParameters(query, sent))).toEqual([])
      expect(readParameters(query, sent)).toEqual(examples.query)
    })
  }

  test('has an example of its response that matches the schema', () => {
    expect(examples?.answer).toBeDefined()
    expect([...Compile(endpoint.answer).Errors(examples?.answer)]).toEqual([])
  })

  test('has examples in the document that match the schemas, also for each problem', () => {
    const { requestBody, responses } = operationOf(endpoint.name)
    for (const { content } of [
      ...(requestBody === undefined ? [] : [requestBody]),
      ...Object.values(responses),
    ]) {
      for (const { schema, example, examples: several } of Object.values(content)) {
        const values =
          example === undefined ? Object.values(several ?? {}).map(({ value }) => value) : [example]
        expect(values.length).toBeGreaterThan(0)
        for (const value of values) expect(errorsOf(schema, value)).toEqual([])
      }
    }
    for (const [status, { content }] of Object.entries(responses)) {
      for (const [code, { value }] of Object.entries(content['application/problem+json']?.examples ?? {})) {
        expect(value).toMatchObject({ code, status: Number(status) })
        expect(value).toHaveProperty('type', expect.stringMatching(new RegExp(`[/#]${code}$`)))
        expect(problems[code as ProblemCode].status).toBe(Number(status))
      }
    }
  })

  test('accepts exactly the field values that the document accepts', () => {
    const { parameters, requestBody } = operationOf(endpoint.name)
    const wrong: string[] = []
    if (requestBody !== undefined && endpoint.body !== undefined && endpoint.bodyKind !== 'csv') {
      const documented = Compile((requestBody.content['application/json']?.schema ?? {}) as object)
      const served = shape(endpoint.body, 'body')
      for (const at of leavesOf(examples?.body)) {
        for (const value of [...texts, ...numbers]) {
          const body = withValue(examples?.body, at, value)
          if (documented.Check(body) !== (served.errors(body).length === 0)) {
            wrong.push(`${at.join('/')} ${JSON.stringify(value).slice(0, 80)}`)
          }
        }
      }
    }
    const query = { ...endpoint.params?.properties, ...endpoint.query?.properties }
    for (const { name, schema } of parameters.filter((one) => one.in !== 'header')) {
      const property = query[name]
      if (property === undefined) throw new Error(`${name} is not a parameter of ${endpoint.name}.`)
      const documented = Compile(schema as object)
      const served = shape(Type.Object({ [name]: property }), 'parameter')
      for (const value of [schema.type].flat().includes('string') ? texts : numbers) {
        if (documented.Check(value) !== (served.errors({ [name]: value }).length === 0)) {
          wrong.push(`${name} ${JSON.stringify(value).slice(0, 80)}`)
        }
      }
    }
    expect(wrong).toEqual([])
  })

  test('is called over HTTP by a test, or named in one', () => {
    expect(isTested(endpoint)).toBe(true)
  })
})

/**
 * Values around the bounds of the fields. Amounts with cents near ten million are missing, because in binary floating point they are
 * not multiples of 0.01. Also missing are values that the service refuses although the schema permits them: impossible dates,
 * invisible text, and Unicode noncharacters.
 */
const lengths = [
  1, 14, 15, 20, 21, 60, 61, 100, 101, 128, 129, 200, 201, 254, 255, 256, 1000, 1001, 1024, 1025, 4000, 4001,
]
const texts: readonly string[] = [
  '',
  ...lengths.map((length) => 'x'.repeat(length)),
  // Lengths count characters, not UTF-16 code units.
  ...lengths.map((length) => '😀'.repeat(length)),
  'a\u0000b',
  'a\nb',
  'a\tb',
  'a\u0085b',
  'a\u202eb',
  'Café, TX',
  'Dallas, TX',
  'Dallas TX',
  `${'x'.repeat(96)}, TX`,
  `${'x'.repeat(97)}, TX`,
  'Dallas,\nTX',
  'Dallas,\u0000TX',
  'V',
  'dry van',
  'dry van 53',
  'a b c d',
  'V+',
  'ana@example.com',
  'ana@example',
  `${'x'.repeat(242)}@example.com`,
  `${'x'.repeat(243)}@example.com`,
  '2026-03-01',
  '2026-03-01T14:00',
  '2026-03-01T14:00:00Z',
  '2026-03-01T14:00:00.123456789-06:00',
  '2026-03-01T24:00:00Z',
  '2026-03-01 14:00',
  '01.03.2026',
  'won',
  'Won',
  'estimate',
  'estimate , optimum',
  'estimate,',
  'evidence',
  '6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44',
  '6F1D0C0E-3C2B-4D1A-9A57-0D8C1F3B2E44',
  'shipment-update',
  'true',
]
const numbers: readonly number[] = [
  -1, -0.01, 0, 0.001, 0.01, 0.5, 1, 1.005, 1.1, 7, 90, 90.01, 100, 168, 169, 200, 201, 1_000, 1_001, 2150.55,
  10_000, 10_000.01, 1_000_000, 1_000_001, 9_999_999, 99_999.98, 10_000_000, 2_147_483_647, 2_147_483_648,
]

/** Returns the path of every value in an example that is neither an object nor an array. */
function leavesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return path.length === 0 ? [] : [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

function withValue(whole: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(whole))
    return whole.map((item, at) => (String(at) === step ? withValue(item, rest, value) : item))
  return { ...(whole as object), [step]: withValue((whole as Record<string, unknown>)[step], rest, value) }
}

const endpointTests = filesOf('server/**/*.test.ts', 'checks/*.test.ts', 'server/testing/make.ts')
  .filter((path) => path !== 'checks/openapi.test.ts')
  .map((path) => withConstants(textOf(path)))

/** Replaces references to path constants of a test file by their values. */
function withConstants(text: string): string {
  const constants = text.matchAll(/^ *const (\w+) = '(\/[^']*)'$/gm)
  return [...constants].reduce((all, [, name, value]) => all.replaceAll(`\${${name}}`, value ?? ''), text)
}

/** Whether a test file contains the path, such as `'/api/lanes/${ref}/requote'`, and the method, or the operation's name. */
function isTested({ name, method, path }: Endpoint): boolean {
  const address = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/\'"`?]+')
  const called = new RegExp(`['"\`}]${address}['"\`?]`)
  const named = new RegExp(`['"\` ]${name}['"\` .,:]`)
  const sent = new RegExp(`['"\`]${method}\\b`)
  return endpointTests.some((text) => (called.test(text) && sent.test(text)) || named.test(text))
}
