import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import { bodyBytesMaxOf, type Endpoint } from '#contract/endpoint.ts'
import { jsonDepthMax, jsonItemsMax, uriBytesMax } from '#contract/limits.ts'
import { extremeOf, type ValueSchema } from './extreme-values.ts'
import { bodyOf, placesOf } from './request-places.ts'
import type { WalkRequest } from './route-requests.ts'

/**
 * The heaviest requests that a caller may send to an endpoint: its longest texts, lists and bodies, and the repetitions of each
 * kind of character that a pattern can backtrack in. All follow from the declaration of the endpoint.
 */

/** What is heavy about a request. A short run sends some of each kind. */
export type HeavyKind = 'nothing' | 'address' | 'json' | 'list' | 'members' | 'text' | 'file'

/** One request. `what` says what is heavy about it. */
export interface HeavyRequest {
  readonly kind: HeavyKind
  readonly what: string
  readonly path: string
  /** Makes the body, which may have megabytes. */
  readonly content?: () => Content
}

export interface Content {
  readonly type: string
  readonly bytes: string | Buffer
}

type Heavy = Omit<HeavyRequest, 'path'>

/** What is repeated: each kind of character that some reader treats differently, and short words made of them. */
export const repeated: readonly string[] = [
  ...[' ', '\t', '\n', '\r\n', '\u00a0', '\u200b', '\u3000'],
  ...['0', '1', '9', 'a', 'A', 'é', 'İ', 'ß', '\u0301', 'e\u0301', '😀', '漢', '\ufb03'],
  ...[',', ';', '|', ':', '=', '.', '-', '/', '\\', '_', '$', '%', '#', '&', '+', '*', '@', '!', '?'],
  ...['"', "'", '`', '(', ')', '[', ']', '{', '}', '<', '>', '\u0000'],
  ...[
    ', ',
    '. ',
    ' x',
    '1,',
    '1 ',
    '$1',
    'a.',
    'a b',
    '1/',
    '-1',
    '""',
    '"a",',
    'a;',
    'a\n',
    '1\n',
    'a\t',
    ' TX, ',
  ],
  ...['a=b,', 'origin=b,', 'TX75201', '00.', '{"', '[1,', '&a='],
]

/** A repetition alone, and within, after and before a value: a pattern backtracks when what follows does not match. */
const forms: readonly ((run: string, valid: string) => string)[] = [
  (run) => run,
  (run) => `a${run}x`,
  (run, valid) => `${valid}${run}x`,
  (run, valid) => `${run}${valid}`,
]

/** Repeats a word to a length in characters. @example runOf('ab', 5) // 'ababa' */
export function runOf(word: string, length: number): string {
  const shown = Math.max(0, length)
  return word.repeat(Math.ceil(shown / word.length)).slice(0, shown)
}

export const formsCount = forms.length

/** A repetition of a word in one of the forms. */
export function textOf(word: string, length: number, valid: string, form: number): string {
  const [bare] = forms
  return (forms[form % forms.length] ?? bare)?.(runOf(word, length - valid.length - 2), valid) ?? ''
}

const textLengthDefault = 1_000
const bytesIn = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

type Path = readonly (string | 0)[]
interface Place {
  readonly path: Path
  readonly schema: ValueSchema
}

const inner = (schema: ValueSchema): ValueSchema =>
  schema.anyOf?.find(({ type }) => type !== 'null') ?? schema

/** The texts and lists in a body, at every depth; of a list, those of its items. */
function placesIn(schema: ValueSchema, path: Path = []): Place[] {
  const own = inner(schema)
  if (own.type === 'object') {
    return Object.entries(own.properties ?? {}).flatMap(([name, of]) => placesIn(of, [...path, name]))
  }
  if (own.type === 'array') return [{ path, schema: own }, ...placesIn(own.items ?? {}, [...path, 0])]
  return own.type === 'string' || own.enum !== undefined ? [{ path, schema: own }] : []
}

/** A copy of a value with another one at a path. Objects and lists on the way are added as the schema permits them. */
function withAt(schema: ValueSchema, value: unknown, path: Path, put: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put
  const own = inner(schema)
  if (step === 0) {
    const items =
      Array.isArray(value) && value.length > 0 ? value : [extremeOf(own.items ?? {}, 'smallest', undefined)]
    return [withAt(own.items ?? {}, items[0], rest, put), ...items.slice(1)]
  }
  const object = (value ?? {}) as Record<string, unknown>
  return { ...object, [step]: withAt(own.properties?.[step] ?? {}, object[step], rest, put) }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], value)
}

/** A text that JSON.stringify does not change, in whose place a long text is put. */
const mark = '@@heavy@@'

/** The JSON of a body around one place, so that a long text is written once and not copied. */
function around(schema: ValueSchema, valid: unknown, path: Path): readonly [string, string] {
  const [before = '', after = ''] = JSON.stringify(withAt(schema, valid, path, mark)).split(`"${mark}"`)
  return [before, after]
}

/** The length of a text of this word that has at most this many bytes in JSON. */
function fitting(word: string, bytes: number): number {
  return Math.floor((bytes / Math.max(1, bytesIn(word))) * word.length)
}

const json = (bytes: () => string | Buffer) => () => ({ type: 'application/json', bytes: bytes() })
const said = (word: string) => JSON.stringify(word)

function* heavyTexts(schema: ValueSchema, valid: unknown, bytesMax: number): Generator<Heavy> {
  for (const { path, schema: of } of placesIn(schema).filter((place) => place.schema.type !== 'array')) {
    const [before, after] = around(schema, valid, path)
    const held = valueAt(valid, path)
    const value = typeof held === 'string' ? held.slice(0, 200) : 'Dallas, TX'
    const room = bytesMax - Buffer.byteLength(before + after) - 2
    for (const [nth, word] of repeated.entries()) {
      const all = fitting(word, room)
      for (const length of new Set([Math.min(all, of.maxLength ?? textLengthDefault), all])) {
        // Two forms of the longest text that is read, and one of the longest that can be sent.
        for (const form of length === all ? [nth] : [nth, nth + 2]) {
          yield {
            kind: 'text',
            what: `${path.join('.')}: ${length} characters of ${said(word)}, form ${form % forms.length}`,
            content: json(() => {
              const text = textOf(word, length - bytesIn(value), value, form)
              return `${before}${JSON.stringify(text)}${after}`
            }),
          }
        }
      }
    }
  }
}

/** The largest value of a schema whose JSON has about this many bytes, with texts of their own in each item of a list. */
function largest(schema: ValueSchema, word: string, bytes: number, nth = 0, mostItems = true): unknown {
  const own = inner(schema)
  if (own.type === 'object') return largestObject(own, word, bytes, { nth, mostItems })
  if (own.type === 'array') return largestList(own, word, bytes, mostItems)
  if (!isLong(own)) return extremeOf(own, 'largest', undefined, nth)
  const end = String(nth)
  const length = Math.min(own.maxLength ?? textLengthDefault * 60, fitting(word, bytes))
  return `${runOf(word, length - end.length)}${end}`
}

function largestObject(
  { properties = {} }: ValueSchema,
  word: string,
  bytes: number,
  { nth, mostItems }: { readonly nth: number; readonly mostItems: boolean },
): unknown {
  const members = Object.entries(properties)
  const isHeavy = (of: ValueSchema) => of.type === 'array' || of.type === 'object' || isLong(of)
  const heavy = members.filter(([, of]) => isHeavy(inner(of)))
  const names = members.reduce((sum, [name]) => sum + name.length + 24, 2)
  const share = Math.max(8, (bytes - names) / Math.max(1, heavy.length))
  return Object.fromEntries(members.map(([name, of]) => [name, largest(of, word, share, nth, mostItems)]))
}

function largestList(
  { items: item = {}, maxItems = 10_000 }: ValueSchema,
  word: string,
  bytes: number,
  mostItems: boolean,
): unknown[] {
  const sizeAt = (room: number) => JSON.stringify(largest(item, word, room, 0, mostItems)).length + 1
  const size = sizeAt(mostItems ? 0 : Number.POSITIVE_INFINITY)
  const items = Math.max(1, Math.floor(Math.min(maxItems, bytes / size)))
  // Without a bound, only to learn the size of an item.
  const isBound = Number.isFinite(bytes)
  const each = isBound ? bytes / items - 1 : bytes
  return Array.from({ length: isBound ? items : Math.min(items, 20) }, (_, at) =>
    largest(item, word, each, at, mostItems),
  )
}

/** A text without a form of its own, such as a day, that fixes its length. */
function isLong({
  type,
  format,
  enum: values,
  const: only,
  'x-expected': expected = '',
}: ValueSchema): boolean {
  return (
    type === 'string' &&
    values === undefined &&
    only === undefined &&
    format !== 'date' &&
    !expected.startsWith('a time in ISO')
  )
}

function* heavyLists(schema: ValueSchema, valid: unknown, bytesMax: number): Generator<Heavy> {
  for (const { path, schema: of } of placesIn(schema).filter((place) => place.schema.type === 'array')) {
    const [before, after] = around(schema, valid, path)
    const room = bytesMax - Buffer.byteLength(before + after) - 64
    const list = (what: string, made: () => string): Heavy => ({
      kind: 'list',
      what: `${path.join('.')}: ${what}`,
      content: json(() => `${before}${made()}${after}`),
    })
    for (const item of ['0', '""', '{}', '[]', '[[]]', 'null', '{"a":0}', `"${'a'.repeat(50)}"`]) {
      const count = Math.floor(room / (item.length + 1))
      yield list(`${count} items ${item.slice(0, 8)}`, () => `[${`${item},`.repeat(count - 1)}${item}]`)
    }
    for (const word of ['a', ' ', '"', '\u0301', '😀', 'Dock ', ', ', '9', 'origin=b,']) {
      for (const [which, mostItems] of [
        ['most', true],
        ['largest', false],
      ] as const) {
        yield list(`the ${which} items, of ${said(word)}`, () =>
          JSON.stringify(largest(of, word, room, 0, mostItems)),
        )
      }
    }
  }
}

function* heavyMembers(schema: ValueSchema, valid: unknown, bytesMax: number): Generator<Heavy> {
  const held = heldMembers(schema, valid)
  const members = (what: string, made: () => unknown): Heavy => ({
    kind: 'members',
    what,
    content: json(() => JSON.stringify(made())),
  })
  for (const word of repeated) {
    yield members(`all members, of ${said(word)}`, () => largest(schema, word, bytesMax - 200))
    yield members(`the members of a valid body, of ${said(word)}`, () => ({
      ...(valid as object),
      ...(largest(held, word, bytesMax / 2) as object),
    }))
  }
}

/** The schema of the members that a valid body has. */
function heldMembers(schema: ValueSchema, valid: unknown): ValueSchema {
  const names = Object.keys((valid ?? {}) as object)
  const held = Object.entries(schema.properties ?? {}).filter(([name]) => names.includes(name))
  return { ...schema, properties: Object.fromEntries(held) }
}

/** Bodies that are large in their JSON, whatever their members are. */
function* heavyJson(valid: string, bytesMax: number, keysMax: number): Generator<Heavy> {
  const deep = jsonDepthMax - 2
  const filled: readonly (readonly [what: string, start: string, unit: string, end: string])[] = [
    ['spaces', '', ' ', ''],
    ['spaces before its members', '{', ' ', valid.slice(1)],
    ['line feeds after its members', valid.slice(0, -1), '\n', '}'],
    ['spaces and no end', '{"a":1,', ' ', 'x'],
    ['commas and spaces', '{"a":1', ', ', 'x'],
    ['one long number', '{"a":', '1', '}'],
    ['one long exponent', '{"a":1e', '1', '}'],
    ['one unknown text', '{"a":"', 'a', '"}'],
    ['one text without an end', '{"a":"', 'a', ''],
    ['escapes without an end', '{"a":"', '\\"', ''],
    ['escapes', '{"a":"', '\\u0000', '"}'],
    ['quotes', '', '"', ''],
    ['single quotes', '{', "'", '}'],
    ['slashes', '{', '/', '}'],
    ['letters', '{', 'a', '}'],
    ['words', '{', 'None ', '}'],
    ['opening brackets', '{"a":', '[', ''],
    ['opening braces', '', '{"a":', ''],
    ['closed brackets', '{"a":[', '[],', '0]}'],
    ['an unknown list', '{"a":[', '0,', '0]}'],
    ['an unknown list of objects', '{"a":[', '{},', '0]}'],
    ['a deep list', `{"a":${'['.repeat(deep)}`, '0,', `0${']'.repeat(deep)}}`],
    ['nulls', '{"a":[', 'null,', '0]}'],
    ['one key', '{"', 'a', '":1}'],
    ['one key that occurs twice', '{"a":1,"a":"', 'a', '"}'],
  ]
  for (const [what, start, unit, end] of filled) {
    const count = Math.floor((bytesMax - start.length - end.length) / unit.length)
    yield {
      kind: 'json',
      what: `a body of ${what}`,
      content: json(() => `${start}${unit.repeat(count)}${end}`),
    }
  }
  for (const [what, item] of [
    ['items', '0'],
    ['objects', '{}'],
    ['lists', '[]'],
  ] as const) {
    const count = Math.min(keysMax + jsonItemsMax, Math.floor(bytesMax / (item.length + 1)) - 10) - 1
    yield {
      kind: 'json',
      what: `a body of ${count} ${what}, as many as are read`,
      content: json(() => `{"a":[${`${item},`.repeat(count - 1)}${item}]}`),
    }
  }
  for (const count of [keysMax, keysMax + 1, 200_000]) {
    const room = Math.min(500, Math.floor(bytesMax / count) - 6)
    if (room < 6) continue
    yield {
      kind: 'json',
      what: `a body of ${count} keys`,
      content: json(() => {
        const members = Array.from({ length: count }, (_, at) => `"${String(at).padEnd(room, 'k')}":1`)
        return `{${members.join(',')}}`
      }),
    }
  }
  yield { kind: 'json', what: 'a body that is not UTF-8', content: json(() => Buffer.alloc(bytesMax, 0xff)) }
}

/** Paths and queries: each parameter with each repetition up to the longest address, and the most parameters. */
function* heavyAddresses(
  endpoint: Endpoint,
  valid: WalkRequest,
): Generator<Pick<HeavyRequest, 'kind' | 'what' | 'path'>> {
  for (const { in: part, name, schema, holding } of placesOf(endpoint, valid)) {
    if (part === 'body') continue
    const room = uriBytesMax - holding('').path.length - 40
    for (const [nth, word] of repeated.entries()) {
      const longest = Math.floor((room / encodeURIComponent(word.toWellFormed()).length) * word.length)
      for (const length of new Set([Math.min(schema.maxLength ?? 200, longest), longest])) {
        yield {
          kind: 'address',
          what: `${name}: ${length} characters of ${said(word)}`,
          path: holding(textOf(word, length, 'Dallas, TX', nth)).path,
        }
      }
    }
  }
  const mark = valid.path.includes('?') ? '&' : '?'
  const room = uriBytesMax - valid.path.length - 40
  for (const pair of ['a=&', 'a&', '&', '%', '=', '%20', '+', 'limit=1&', '__proto__=1&', ';']) {
    const path = `${valid.path}${mark}${pair.repeat(Math.floor(room / pair.length))}`
    yield { kind: 'address', what: `a query of ${pair}`, path }
  }
}

/** Every heavy request of an endpoint, but those with files (`heavy-files.ts`). */
export function* heavyRequests(endpoint: Endpoint, valid: WalkRequest): Generator<HeavyRequest> {
  const { path } = valid
  yield { kind: 'nothing', what: 'a valid request', path, ...contentOf(valid) }
  for (const heavy of heavyAddresses(endpoint, valid)) yield { ...heavy, ...contentOf(valid) }
  if (endpoint.body === undefined || endpoint.bodyKind === 'csv') return
  const schema = endpoint.body as ValueSchema
  const bytesMax = bodyBytesMaxOf(endpoint)
  const body = bodyOf(valid)
  const heavy = [
    heavyJson(JSON.stringify(body), bytesMax, bodyKeysMaxOf(endpoint)),
    heavyLists(schema, body, bytesMax),
    heavyMembers(schema, body, bytesMax),
    heavyTexts(schema, body, bytesMax),
  ]
  for (const requests of heavy) for (const one of requests) yield { ...one, path }
}

/** The body of a valid request. */
function contentOf({ body, text }: WalkRequest): Pick<HeavyRequest, 'content'> {
  if (text !== undefined) return { content: () => text }
  return body === undefined ? {} : { content: json(() => JSON.stringify(body)) }
}
