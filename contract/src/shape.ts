import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { FieldError } from './errors.ts'

/**
 * Validates values against a schema and describes each error in words: the field, the value sent and the expected
 * form.
 *
 * Bodies are never coerced. Query and path parameters arrive as text and are parsed by the type in the schema.
 */
export interface Shape {
  /** The property names at the top level of the schema. */
  readonly names: ReadonlySet<string>
  /** The invalid fields, with at most one error per field. Empty if the value is valid. */
  errors(value: unknown): FieldError[]
}

interface AnySchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, AnySchema>>
  readonly items?: AnySchema
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly 'x-expected'?: string
  /** True for secrets. Error messages do not contain the value of a secret. */
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
      // Checked first, because the validator looks at every item of a list that is too long, even of a million, and counts letters
      // slowly.
      const long = tooLong(root, value, [])
      if (long.length > 0) {
        return long.map((path) => {
          const at = pointerTo(path)
          const isSecret = schemaAt(root, at)?.writeOnly === true
          const sent = isSecret ? '' : `; it is ${shown(valueAt(value, at))}`
          return {
            ...fieldAt(at),
            code: 'invalid',
            detail: `${spoken(path)} must be ${expected(root, at)}${sent}.`,
          }
        })
      }
      if (validator.Check(value)) return []
      const found = new Map<string, FieldError>()
      const add = (path: string, code: string, detail: string) => {
        if (!found.has(path)) found.set(path, { ...fieldAt(path), code, detail })
      }
      for (const error of validator.Errors(value)) {
        if (error.keyword === 'required') {
          for (const name of missingNames(error.params)) {
            const path = `${error.instancePath}/${name}`
            add(path, 'missing', `${spoken(steps(path))} is missing; it must be ${expected(root, path)}.`)
          }
          continue
        }
        const path = error.instancePath
        const isSecret = schemaAt(root, path)?.writeOnly === true
        const sent = isSecret ? '' : `; it is ${shown(valueAt(value, path))}`
        add(path, 'invalid', `${spoken(steps(path))} must be ${expected(root, path)}${sent}.`)
      }
      return [...found.values()]
    },
  }
}

/**
 * Copies a JSON value without the members that the schema does not define, at every depth. The paths of the removed members are
 * added to `unknown`. Members that are null are omitted, because null means absent in a body. With `emptyIsAbsent`, optional texts
 * that are empty but must not be are omitted, too: many systems send them for an absent value. A list that is longer than its
 * maximum stays as it is; `Shape.errors` refuses it.
 *
 * @example knownMembers(schema, { lanes: [{ origin: 'Reno, NV', colour: 'red' }] }, unknown) // unknown: [['lanes', 0, 'colour']]
 */
export function knownMembers(
  schema: TSchema,
  value: unknown,
  unknown: BodyPath[],
  { emptyIsAbsent = false }: { readonly emptyIsAbsent?: boolean } = {},
): unknown {
  return knownPart(schema as AnySchema, value, [], { unknown, emptyIsAbsent })
}

interface Known {
  readonly unknown: BodyPath[]
  readonly emptyIsAbsent: boolean
}

function knownPart(schema: AnySchema, value: unknown, path: BodyPath, known: Known): unknown {
  if (Array.isArray(value)) {
    const { items = {}, maxItems = Number.POSITIVE_INFINITY } = schema
    // A list that validation refuses is not copied: it may have a million items.
    if (schema.type !== 'array' || value.length > maxItems) return value
    return value.map((item, index) => knownPart(items, item, [...path, index], known))
  }
  const { properties } = schema
  if (typeof value !== 'object' || value === null || properties === undefined) return value
  const members: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name]
    if (!Object.hasOwn(properties, name)) known.unknown.push(at)
    else if (member !== null && !(known.emptyIsAbsent && member === '' && isLeftOut(schema, name)))
      members[name] = knownPart(properties[name] ?? {}, member, at, known)
  }
  return members
}

/** True if an empty text means that a member is absent: the member is optional, and an empty text is not valid for it. */
function isLeftOut({ required = [], properties = {} }: AnySchema, name: string): boolean {
  const { type, minLength = 0, pattern, enum: values } = properties[name] ?? {}
  return (
    !required.includes(name) &&
    (type === 'string' || values !== undefined) &&
    (minLength > 0 || values !== undefined || (pattern !== undefined && !new RegExp(pattern).test('')))
  )
}

/** Texts up to this length are left to the validator, which reports them together with the errors of other members. */
const countedLengthMax = 10_000

/**
 * The paths of the lists in a value that are longer than their maximum, and of such texts with more than ten thousand characters.
 * The validator would look at each item of such a list, and take a tenth of a second to count the letters of such a text.
 */
function tooLong(schema: AnySchema, value: unknown, path: BodyPath): BodyPath[] {
  if (typeof value === 'string') {
    const { maxLength = Number.POSITIVE_INFINITY } = schema
    const mayBe = value.length > countedLengthMax && value.length > maxLength
    return mayBe && characters(value) > maxLength ? [path] : []
  }
  if (Array.isArray(value)) {
    const { items = {}, maxItems = Number.POSITIVE_INFINITY } = schema
    if (value.length > maxItems) return [path]
    if (!mayBeLong(items)) return []
    return value.flatMap((item, index) => tooLong(items, item, [...path, index]))
  }
  const { properties } = schema
  if (typeof value !== 'object' || value === null || properties === undefined) return []
  return Object.entries(properties).flatMap(([name, member]) =>
    mayBeLong(member) ? tooLong(member, (value as Record<string, unknown>)[name], [...path, name]) : [],
  )
}

/** True for a schema of texts or lists with a maximum, or of values that can contain them. */
function mayBeLong({ type, properties, items, maxItems, maxLength }: AnySchema): boolean {
  return (
    maxLength !== undefined ||
    type === 'array' ||
    maxItems !== undefined ||
    properties !== undefined ||
    items !== undefined
  )
}

function missingNames(params: unknown): readonly string[] {
  const names = (params as { requiredProperties?: unknown }).requiredProperties
  return Array.isArray(names) ? names.map(String) : []
}

function steps(path: string): string[] {
  return path === '' ? [] : path.slice(1).split('/')
}

/** The path to a member of a body: member names and list indexes. */
export type BodyPath = readonly (string | number)[]

/** A path as a JSON pointer (RFC 6901). @example pointerTo(['lanes', 0, 'a/b']) // '/lanes/0/a~1b' */
export function pointerTo(path: BodyPath): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/**
 * A path in JavaScript notation, for messages.
 *
 * @example spoken(['lanes', 0, 'quoted_rate']) // 'lanes[0].quoted_rate'
 */
export function spoken(path: BodyPath): string {
  const words = path.map((step) => (/^\d+$/.test(String(step)) ? `[${step}]` : `.${step}`))
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

/** Counts without a list of the characters, which for a text of megabytes would need hundreds of megabytes. */
function characters(text: string): number {
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    // The second half of a character of two code units, such as an emoji.
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++
  }
  return text.length - pairs
}

/** A value as shown in an error message, shortened. Callers exclude secrets. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > shownMax ? value : JSON.stringify(value.toWellFormed())
    return text.length > shownMax ? `text of ${characters(value)} characters` : text
  }
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value === null) return 'null'
  return Object.keys(value ?? {}).length === 0 ? 'an empty object' : 'an object'
}

/** Plain decimal notation with up to 15 integer digits, which a number represents exactly. Ids have 11. */
const decimal = /^(0|[1-9]\d{0,14})(\.\d{1,10})?$/

/**
 * Parses the text parameters of a query or a path by the types in their schema. Invalid numbers stay text, so that
 * validation reports them.
 */
export function readParameters(
  schema: TObject,
  sent: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const properties = (schema as AnySchema).properties ?? {}
  const values: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(sent)) {
    const type = properties[name]?.type
    // An empty optional parameter is absent: forms and URL templates send one for a value that is not there.
    if (text === '' && schema.required?.includes(name) !== true) continue
    const isNumber = type === 'number' || type === 'integer'
    values[name] = isNumber && decimal.test(text) ? Number(text) : text
  }
  return values
}
