import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { FieldError } from './errors.ts'

/**
 * Checks values against a schema and says what is wrong in words: which field, what was sent, what would be right.
 *
 * Bodies are never coerced. Query and path parameters arrive as text and are read by the type the schema gives them.
 */
export interface Shape {
  /** The names the schema knows at its top level. */
  readonly names: ReadonlySet<string>
  /** Every field that is wrong, at most one error a field; empty when all is right. */
  errors(value: unknown): FieldError[]
}

interface AnySchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, AnySchema>>
  readonly items?: AnySchema
  readonly required?: readonly string[]
  readonly 'x-expected'?: string
  /** A secret: an error about it does not repeat it. */
  readonly writeOnly?: boolean
}

export type Where = 'body' | 'parameter'

export function shape(schema: TSchema, where: Where): Shape {
  const validator = Compile(schema)
  const root = schema as AnySchema
  const fieldAt = (path: string) =>
    where === 'body' ? { pointer: path } : { parameter: decodeURIComponent(path.slice(1)) }
  return {
    names: new Set(Object.keys(root.properties ?? {})),
    errors(value) {
      if (validator.Check(value)) return []
      const found = new Map<string, FieldError>()
      const add = (path: string, code: string, detail: string) => {
        if (!found.has(path)) found.set(path, { ...fieldAt(path), code, detail })
      }
      for (const error of validator.Errors(value)) {
        if (error.keyword === 'required') {
          for (const name of missingNames(error.params)) {
            const path = `${error.instancePath}/${name}`
            add(path, 'missing', `${spoken(path)} is missing; it must be ${expected(root, path)}.`)
          }
          continue
        }
        const path = error.instancePath
        const isSecret = schemaAt(root, path)?.writeOnly === true
        const sent = isSecret ? '' : `; it is ${shown(valueAt(value, path))}`
        add(path, 'invalid', `${spoken(path)} must be ${expected(root, path)}${sent}.`)
      }
      return [...found.values()]
    },
  }
}

function missingNames(params: unknown): readonly string[] {
  const names = (params as { requiredProperties?: unknown }).requiredProperties
  return Array.isArray(names) ? names.map(String) : []
}

function steps(path: string): string[] {
  return path === '' ? [] : path.slice(1).split('/')
}

/** `/lanes/0/quoted_rate` as a reader says it: `lanes[0].quoted_rate`. */
function spoken(path: string): string {
  const words = steps(path).map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
  return words.length === 0 ? 'The body' : words.join('').replace(/^\./, '')
}

function schemaAt(root: AnySchema, path: string): AnySchema | undefined {
  let schema: AnySchema | undefined = root
  for (const step of steps(path)) schema = schema?.properties?.[step] ?? schema?.items
  return schema
}

const typeInWords: Readonly<Record<string, string>> = {
  object: 'a JSON object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function expected(root: AnySchema, path: string): string {
  const schema = schemaAt(root, path)
  return schema?.['x-expected'] ?? typeInWords[schema?.type ?? ''] ?? 'text'
}

function valueAt(value: unknown, path: string): unknown {
  let at: unknown = value
  for (const step of steps(path)) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<string, unknown>)[step]
  }
  return at
}

const shownMax = 60

/** A value as an error text may repeat it: short, and never a password (texts of secrets are not shown). */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(value.toWellFormed())
    return text.length > shownMax ? `text of ${[...value].length} characters` : text
  }
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `a list of ${value.length}`
  return value === null ? 'null' : 'an object'
}

/** Plain decimal notation. Up to 15 digits before the point are exact as a number: ids have 11. */
const decimal = /^(0|[1-9]\d{0,14})(\.\d{1,10})?$/

/**
 * Reads the text parameters of a query or a path by the types of their schema. Texts that are no number stay texts, so
 * that the check names them.
 */
export function readParameters(
  schema: TObject,
  sent: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const properties = (schema as AnySchema).properties ?? {}
  const values: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(sent)) {
    const type = properties[name]?.type
    const isNumber = type === 'number' || type === 'integer'
    values[name] = isNumber && decimal.test(text) ? Number(text) : text
  }
  return values
}
