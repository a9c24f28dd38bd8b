import { createConfig, lintFromString } from '@redocly/openapi-core'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { type ProblemCode, problems } from '#contract/errors.ts'
import { openApiDocument } from '#contract/openapi.ts'
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
/** Throws at a reference that leads nowhere. */
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

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, and its examples fit its schemas', async () => {
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
          // The document is served by the service it is of, wherever that is.
          'no-server-example.com': 'off',
        },
      }),
    })
    const said = problems.map(
      ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
    )
    expect(said).toEqual([])
  })

  test('names each operation once, after its contract', () => {
    const names = endpoints.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })

  test('refers to schemas by names that are identifiers in any language', () => {
    const names = Object.keys(document.components.schemas ?? {})
    expect(names).toEqual(
      expect.arrayContaining(['Lane', 'Problem', 'FieldError', 'Dollars', 'Place', 'Import']),
    )
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/)
    for (const kind of ['parameters', 'headers', 'examples']) {
      for (const name of Object.keys(document.components[kind] ?? {})) expect(name).toMatch(/^[A-Za-z0-9-]+$/)
    }
  })

  test('defines each object once: none stands in two places, and none beside a component like it', () => {
    const places = new Map<string, string[]>()
    const look = (part: unknown, at: string, isComponent: boolean): void => {
      if (typeof part !== 'object' || part === null) return
      const names = Object.keys((part as Schema).properties ?? {})
      if (names.length > 0 && (part as Schema).type === 'object') {
        const key = names.toSorted().join(', ')
        // Two components may have the same names: their values differ.
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
    // The check sees what it is for.
    expect(places.size).toBeGreaterThan(80)
  })

  test('gives ids as int64', () => {
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

  test('has one operation for each method of an address', () => {
    const routes = endpoints.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(routes).size).toBe(routes.length)
  })
})

describe.each(endpoints.map((endpoint) => ({ name: endpoint.name, endpoint })))('$name', ({ endpoint }) => {
  const { examples } = endpoint

  test('says in a sentence what it does', () => {
    expect(endpoint.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/)
  })

  if (endpoint.body !== undefined && endpoint.bodyKind !== 'csv') {
    const { body } = endpoint
    test('shows an example of its body, and would accept it', () => {
      expect(examples?.body).toBeDefined()
      expect(shape(body, 'body').errors(examples?.body)).toEqual([])
    })
  }

  if (examples?.query !== undefined && endpoint.query !== undefined) {
    const { query } = endpoint
    test('would accept its example query, as text from an address', () => {
      const sent = Object.fromEntries(
        Object.entries(examples.query ?? {}).map(([name, value]) => [name, String(value)]),
      )
      expect(shape(query, 'parameter').errors(readParameters(query, sent))).toEqual([])
      expect(readParameters(query, sent)).toEqual(examples.query)
    })
  }

  test('shows an example of its answer, and could give it', () => {
    expect(examples?.answer).toBeDefined()
    expect([...Compile(endpoint.answer).Errors(examples?.answer)]).toEqual([])
  })

  test('has examples in the document that fit the schemas there, of each problem too', () => {
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

  test('accepts of each field what the document accepts, and nothing else', () => {
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
      if (property === undefined) throw new Error(`${name} is no parameter of ${endpoint.name}.`)
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

  test('is called by a test over HTTP, or named in one', () => {
    expect(isTested(endpoint)).toBe(true)
  })
})

/**
 * Values around every bound that a field has. Cents near ten million are left out: divided by 0.01 in binary they are not
 * whole. Also left out is what the service checks beyond the means of a schema: days
 * that no month has, texts of which nothing can be seen, and characters that Unicode has ruled out.
 */
const lengths = [
  1, 14, 15, 20, 21, 60, 61, 100, 101, 128, 129, 200, 201, 254, 255, 256, 1000, 1001, 1024, 1025, 4000, 4001,
]
const texts: readonly string[] = [
  '',
  ...lengths.map((length) => 'x'.repeat(length)),
  // Counted in characters, not in the units of UTF-16.
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

/** Every value in an example that is no object and no list, as the way to it. */
function leavesOf(value: unknown, way: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return way.length === 0 ? [] : [way]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...way, name]))
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

/** With the addresses that a file names in constants put where it uses them. */
function withConstants(text: string): string {
  const constants = text.matchAll(/^ *const (\w+) = '(\/[^']*)'$/gm)
  return [...constants].reduce((all, [, name, value]) => all.replaceAll(`\${${name}}`, value ?? ''), text)
}

/** One file of tests holds its address, as `'/api/lanes/${ref}/requote'`, and its method; or says its name. */
function isTested({ name, method, path }: Endpoint): boolean {
  const address = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/\'"`?]+')
  const called = new RegExp(`['"\`}]${address}['"\`?]`)
  const named = new RegExp(`['"\` ]${name}['"\` .,:]`)
  const sent = new RegExp(`['"\`]${method}\\b`)
  return endpointTests.some((text) => (called.test(text) && sent.test(text)) || named.test(text))
}
