import { components } from './components.ts'

export type Json = Record<string, unknown>

/** A schema of the contract, which is JSON Schema: as much of it as the contract uses. */
interface Schema extends Json {
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

/** Where a schema is used. In a body null is the same as absent, so there an optional member may be null. */
type Use = 'body' | 'answer'

/** Gives the schemas of the OpenAPI document, and collects those that have a name of their own. */
export interface DocumentSchemas {
  /** A schema as it stands in the document: a reference where it has a name. */
  part(schema: unknown, use: Use, member?: string): Json
  /** A reference to a schema under a name that it gets here, unless one of the same structure has a name already. */
  named(name: string, schema: unknown, use: Use): Json
  /** Every schema with a name that was referred to. */
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
      throw new Error(`The schema ${name} is used with two forms: give one of them another name.`)
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
        : // Records have one pattern, which takes any name.
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

/** What makes two schemas the same: everything but the words about them. */
function structure(schema: unknown): string {
  return JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'description' || key === 'examples' || key === 'x-expected') return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

const isInteger = ({ type }: Json) => type === 'integer' || (Array.isArray(type) && type.includes('integer'))

/** A plain type or null as one schema with two types; null where it is anything else. */
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
