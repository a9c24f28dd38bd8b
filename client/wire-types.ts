import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { eventBodies } from '#contract/events.ts'
import type { Schema } from '#contract/openapi-schemas.ts'

/**
 * Generates the types of requests, responses and webhooks from the contract's schemas. In the published package they replace
 * `client/src/wire.ts`, so that the package depends on neither the contract nor the schema library.
 */
export function wireTypes(): string {
  const entries = (allEndpoints as readonly Endpoint[]).map(
    (endpoint) => `  /** ${comment(endpoint.description)} */
  readonly '${endpoint.name}': {
    readonly params: ${objectType((endpoint.params ?? {}) as Schema, '    ', 'answered')}
    readonly query: ${objectType((endpoint.query ?? {}) as Schema, '    ', 'sent')}
    readonly body: ${endpoint.body === undefined ? 'never' : endpoint.bodyKind === 'csv' ? 'Blob' : typeOf(endpoint.body as Schema, '    ', 'sent')}
    readonly answer: ${typeOf(endpoint.answer as Schema, '    ', 'answered')}
  }`,
  )
  const webhooks = Object.entries(eventBodies).map(
    ([type, { description, schema }]) => `  /** ${comment(description)} */
  readonly '${type}': ${typeOf(schema as unknown as Schema, '  ', 'answered')}`,
  )
  return `/** The request and response types of each Lanewise operation, by name. Generated from the service's contract. */
export interface Operations {
${entries.join('\n')}
}

/** The body of each webhook that Lanewise sends, by its type. */
export interface Webhooks {
${webhooks.join('\n')}
}
`
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'null'])

/** Optional members of a request may also be null or undefined, which the service treats as absent. */
type Direction = 'sent' | 'answered'

function typeOf(schema: Schema, indent: string, direction: Direction): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((part) => typeOf(part, indent, direction)).join(' | ')
  if (Object.keys(schema).length === 0) return 'unknown'
  if (schema.type === 'integer') return 'number'
  if (schema.type === 'array') {
    return `${direction === 'sent' ? 'readonly ' : ''}(${typeOf(schema.items ?? {}, indent, direction)})[]`
  }
  if (schema.type === 'object') {
    return schema.patternProperties === undefined
      ? objectType(schema, indent, direction)
      : recordType(schema, indent, direction)
  }
  if (schema.type !== undefined && plainTypes.has(schema.type)) return schema.type
  throw new Error(`The contract has a schema of type ${schema.type}, which wire-types.ts does not support.`)
}

function recordType({ patternProperties = {} }: Schema, indent: string, direction: Direction): string {
  const [values = {}] = Object.values(patternProperties)
  return `Record<string, ${typeOf(values, indent, direction)}>`
}

function objectType(
  { properties = {}, required = [] }: Schema,
  indent: string,
  direction: Direction,
): string {
  const deeper = `${indent}  `
  const isSent = direction === 'sent'
  const lines = Object.entries(properties).map(([name, schema]) => {
    const described =
      schema.description === undefined ? '' : `${deeper}/** ${comment(schema.description)} */\n`
    const type = typeOf(schema, deeper, direction)
    const start = `${described}${deeper}${isSent ? 'readonly ' : ''}${name}`
    if (required.includes(name)) return `${start}: ${type}`
    return `${start}?: ${type}${isSent ? ' | null | undefined' : ''}`
  })
  return lines.length === 0 ? 'Record<never, never>' : `{\n${lines.join('\n')}\n${indent}}`
}

function comment(text: string): string {
  return text.replaceAll('*/', '* /')
}
