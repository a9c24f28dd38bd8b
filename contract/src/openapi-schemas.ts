import { components } from './components.ts'

export type Json = Record<string, unknown>

/** The subset of JSON Schema that the contract uses. The types of the published client are generated from it, too. */
export interface Schema extends Json {
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

/** Where a schema is used. In a request body null means absent, so optional members are nullable there. */
type Use = 'body' | 'answer'

/** Renders the schemas of the OpenAPI document, and collects the named ones. */
export interface DocumentSchemas {
  /** The rendered schema, or a reference if the schema has a name. */
  part(schema: unknown, use: Use, member?: string): Json
  /**
   * Names a schema and returns a reference to it. A response schema with the structure of a named schema keeps that
   * name.
   */
  named(name: string, schema: unknown, use: Use): Json
  /** All named schemas that were referenced. */
  readonly schemas: Readonly<Record<string, Json>>
}

export function documentSchemas(): DocumentSchemas {
  const schemas: Record<string, Json> = {}
  const names = new Map(Object.entries(components).map(([name, { schema }]) => [structure(schema), name]))

  function refer(name: string, { description }: Schema): Json {
    const $ref = `#/components/schemas/${name}`
    return description === undefined || description === '' ? { $ref } : { $ref, description }
  }

  function define(name: string, schema: Schema, use: Use): void {
    const { schema: registered = schema, description } = components[name] ?? {}
    const rendered = {
      ...written(registered as unknown as Schema, use, name),
      ...(description === undefined ? {} : { description }),
    }
    const known = schemas[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rendered)) {
      throw new Error(`The schema ${name} has two different forms. Give one of them another name.`)
    }
    schemas[name] = rendered
  }

  function part(of: unknown, use: Use, member = ''): Json {
    const schema = of as Schema
    const name = names.get(structure(schema))
    if (name === undefined) return written(schema, use, member)
    define(name, schema, use)
    return refer(name, schema)
  }

  function written(schema: Schema, use: Use, member: string): Json {
    const { items, properties, anyOf, patternProperties, 'x-multiple-of': multipleOf, ...rest } = schema
    const nullableType = typeOrNull(schema)
    if (nullableType !== null) return written(nullableType, use, member)
    return {
      ...rest,
      ...(multipleOf === undefined ? {} : { multipleOf }),
      ...(schema.enum?.every((value) => typeof value === 'string') === true ? { type: 'string' } : {}),
      ...(isInteger(schema) && /(^|_)id$/.test(member) ? { format: 'int64' } : {}),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((one) => part(one, use, member)) }),
      ...(items === undefined ? {} : { items: part(items, use) }),
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, property]) => {
                const inner = part(property, use, name)
                const isOptional = schema.required?.includes(name) !== true
                return [name, use === 'body' && isOptional ? orNull(inner) : inner]
              }),
            ),
          }),
      ...(patternProperties === undefined
        ? {}
        : // A record has one pattern, which matches any name.
          { additionalProperties: part(Object.values(patternProperties)[0] ?? {}, use) }),
    }
  }

  return {
    schemas,
    part,
    named(name, of, use) {
      const schema = of as Schema
      const known = names.get(structure(schema))
      if (known !== undefined && use === 'answer') return part(schema, use)
      if (use === 'answer') names.set(structure(schema), name)
      define(name, schema, use)
      return refer(name, {})
    },
  }
}

/** A key that is equal for schemas that differ only in their descriptions. */
function structure(schema: unknown): string {
  return JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'description' || key === 'examples' || key === 'x-expected') return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

const isInteger = ({ type }: Json) => type === 'integer' || (Array.isArray(type) && type.includes('integer'))

/** Converts `anyOf` of a scalar type and null to one schema with two types. Null for any other schema. */
function typeOrNull({ anyOf, ...rest }: Schema): Schema | null {
  const [one, other] = anyOf ?? []
  if (anyOf?.length !== 2 || one === undefined || other?.type !== 'null') return null
  if (typeof one.type !== 'string' || one.type === 'object' || one.type === 'array') return null
  return { ...one, ...rest, type: [one.type, 'null'] } as unknown as Schema
}

function orNull(schema: Json): Json {
  if (typeof schema.type === 'string' && schema.enum === undefined) {
    return { ...schema, type: [schema.type, 'null'] }
  }
  const { description, ...rest } = schema
  return { anyOf: [rest, { type: 'null' }], ...(description === undefined ? {} : { description }) }
}
