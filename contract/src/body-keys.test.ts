import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { allEndpoints } from './all-endpoints.ts'
import { bodyKeysMaxOf } from './body-keys.ts'
import type { Endpoint } from './endpoint.ts'
import { unknownKeysMax } from './limits.ts'
import { openApiDocument } from './openapi.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxItems?: number
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
  readonly anyOf?: unknown
  readonly allOf?: unknown
  readonly oneOf?: unknown
  readonly $ref?: unknown
}

/** The largest body that a schema permits, in keys: all members, and lists of full length. Other values are null. */
function largest({ properties, items, maxItems = 0 }: Schema): unknown {
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, largest(of)]))
  }
  return items === undefined ? null : Array.from({ length: maxItems }, () => largest(items))
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const nested = Object.values(value).reduce((total: number, one) => total + keysIn(one), 0)
  return nested + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

function everySchema(schema: Schema): Schema[] {
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  return [schema, ...parts.flatMap(everySchema)]
}

const withJson = (allEndpoints as readonly Endpoint[]).filter(
  ({ body, bodyKind }) => body !== undefined && bodyKind !== 'csv',
)
const documented = openApiDocument('1.0.0').paths as Record<
  string,
  Record<string, { readonly requestBody: { readonly description: string } }>
>

describe.each(withJson.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  const schema = endpoint.body as Schema
  const body = largest(schema) as Readonly<Record<string, unknown>>

  test('permits the keys of its largest valid body, and unknown ones beside them', () => {
    const lists = Object.values(body).filter(
      (value) => Array.isArray(value) && keysIn(value) > 0,
    ) as unknown[][]
    const unknown = unknownKeysMax * (1 + lists.reduce((total, list) => total + list.length, 0))
    expect(bodyKeysMaxOf(endpoint)).toBe(keysIn(body) + unknown)
    // The body has nothing unknown or too long. Only its values may be wrong.
    const structural = [...Compile(endpoint.body as object).Errors(body)].filter(({ keyword }) =>
      ['maxItems', 'additionalProperties', 'required', 'maxProperties'].includes(keyword),
    )
    expect(structural).toEqual([])
  })

  test('has only lists and objects whose keys can be counted', () => {
    for (const part of everySchema(schema)) {
      const { additionalProperties, patternProperties, anyOf, allOf, oneOf, $ref } = part
      expect([additionalProperties, patternProperties, anyOf, allOf, oneOf, $ref]).toEqual(
        Array(6).fill(undefined),
      )
      if (part.items?.properties !== undefined) expect(part.maxItems).toBeGreaterThan(0)
    }
  })

  test('states its limit in the OpenAPI document', () => {
    const { description } = documented[endpoint.path]?.[endpoint.method.toLowerCase()]?.requestBody ?? {}
    expect(description).toContain(`${bodyKeysMaxOf(endpoint).toLocaleString('en-US')} keys`)
  })
})

test('a list of objects without a maximum length has no limit of keys, and is refused', () => {
  const body = {
    type: 'object',
    properties: { rows: { type: 'array', items: { type: 'object', properties: { a: {} } } } },
  }
  expect(() => bodyKeysMaxOf({ name: 'x', body } as never)).toThrow('The list x/rows has no maxItems.')
})
