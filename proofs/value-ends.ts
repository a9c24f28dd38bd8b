import { printable } from '#contract/fields.ts'
import type { SeededRandom } from '#server/sample/index.ts'

/** The parts of a JSON schema that limit its values. */
export interface ValueSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ValueSchema[]
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly items?: ValueSchema
  readonly maxItems?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly examples?: readonly unknown[]
  readonly 'x-expected'?: string
}

/** A schema without null. */
export const inner = (schema: ValueSchema): ValueSchema =>
  schema.anyOf?.find(({ type }) => type !== 'null') ?? schema

/** `most` has the largest numbers and longest lists with the shortest texts: a refusal of a long text would hide a fault of a sum. */
export type End = 'largest' | 'most' | 'smallest'
export const ends = ['largest', 'most', 'smallest'] as const
/** The most items of a list. No list has a rule that only more items could break. */
const itemsMax = 20

/**
 * A value at an end of what a schema permits: numbers at their limits, the longest and the shortest texts, the first and
 * the last day, the longest lists. `valid` is the value of a valid request, and the result for a text with a fixed form, such as a
 * place.
 *
 * @example endOf({ type: 'number', minimum: 0, maximum: 9999999.99 }, 'largest', undefined) // 9999999.99
 */
export function endOf(schema: ValueSchema, end: End, valid: unknown, nth = 0): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum.at(end === 'smallest' ? 0 : -1)
  const own = inner(schema)
  if (own !== schema) return endOf(own, end, valid, nth)
  switch (schema.type) {
    case 'number':
    case 'integer': {
      const step = schema.type === 'integer' ? 1 : 0.01
      const smallest = schema.minimum ?? (schema.exclusiveMinimum ?? 0) + step
      return end === 'smallest' ? smallest : (schema.maximum ?? 1_000_000_000)
    }
    case 'boolean':
      return end !== 'smallest'
    case 'array': {
      const list = Array.isArray(valid) ? valid : []
      const items = end === 'smallest' ? 1 : Math.min(itemsMax, schema.maxItems ?? itemsMax)
      return Array.from({ length: items }, (_, at) => endOf(schema.items ?? {}, end, list[0], at))
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, of]) => [
          name,
          endOf(of, end, (valid as Record<string, unknown> | undefined)?.[name], nth),
        ]),
      )
    case 'string':
      return endOfText(schema, end, valid, nth)
    case 'null':
    case undefined:
      return valid ?? null
  }
}

function endOfText(schema: ValueSchema, end: End, valid: unknown, nth: number): unknown {
  if (schema.format === 'date') return end === 'smallest' ? '1970-01-01' : '2200-12-31'
  if (schema['x-expected']?.startsWith('a time in ISO 8601') === true) {
    return end === 'smallest' ? '1970-01-01T00:00:00+23:59' : '2200-12-31T23:59:59.999999999-23:59'
  }
  if (schema.pattern !== printable) return valid ?? schema.examples?.[0] ?? 'x'
  // Characters of the most bytes, and the item's number, so that the texts of a list differ.
  const own = String(nth)
  return end === 'largest' ? `${'😀'.repeat((schema.maxLength ?? 200) - own.length)}${own}` : own
}

/** The fields that name the changed record. They keep their valid value, so that the request finds the record. */
const names: ReadonlySet<string> = new Set([
  'lane_ref',
  'external_id',
  'email',
  'password',
  'quote_id',
  'key',
])

/**
 * A valid object with some fields at an end of what the schema permits. In a list of objects, such as the items of a push, the fields
 * of the first item change.
 */
export function withEnds(
  schema: ValueSchema,
  valid: Readonly<Record<string, unknown>>,
  endOfField: (field: string) => End | null,
): Record<string, unknown> {
  const next: Record<string, unknown> = { ...valid }
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    const held = valid[field]
    if (of.type === 'array' && of.items?.type === 'object' && Array.isArray(held) && isObject(held[0])) {
      next[field] = [withEnds(of.items, held[0], endOfField), ...held.slice(1)]
      continue
    }
    const end = names.has(field) ? null : endOfField(field)
    if (end !== null) next[field] = endOf(of, end, held)
  }
  return next
}

/** Each field alone at each end, all fields at each end, and `count` random subsets at random ends. */
export function* endChoices(
  schema: ValueSchema,
  valid: Readonly<Record<string, unknown>>,
  { uniform }: SeededRandom,
  count: number,
): Generator<ReadonlyMap<string, End>> {
  const seen = new Set<string>()
  withEnds(schema, valid, (field) => {
    seen.add(field)
    return null
  })
  const fields = [...seen]
  for (const end of ends) {
    for (const field of fields) yield new Map([[field, end]])
    yield new Map(fields.map((field) => [field, end]))
  }
  for (let nth = 0; nth < count; nth++) {
    const share = uniform()
    yield new Map(
      fields.flatMap((field) =>
        uniform() < share ? [[field, ends[Math.floor(uniform() * ends.length)] ?? 'most'] as const] : [],
      ),
    )
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
