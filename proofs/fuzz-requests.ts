import Value from 'typebox/value'
import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import { bodyBytesMaxOf, type Endpoint, signsOf } from '#contract/endpoint.ts'
import { jsonDepthMax, jsonItemsMax, uriBytesMax } from '#contract/limits.ts'
import type { SeededRandom } from '#server/sample/index.ts'
import {
  formsCount,
  jsonBodies,
  numberParameters,
  numberTexts,
  otherTypes,
  repeated,
  runOf,
  textOf,
  texts,
} from './fuzz-values.ts'
import { bodyOf, type Place, placesOf } from './request-places.ts'
import type { CallerName } from './route-expectations.ts'
import type { Operation, WalkRequest } from './route-requests.ts'
import { endChoices, endOf, inner, type ValueSchema, withEnds } from './value-ends.ts'

/**
 * The requests of the fuzzer that follow from the contract: each parameter and each member of a body with each value of its kind,
 * and bodies and addresses as large as a caller may send. `fuzz-mutations.ts`, `fuzz-files.ts` and `fuzz-sockets.ts` add others.
 */

/** What is unusual about a request: its kind. */
export type FuzzKind =
  | 'valid'
  | 'mutation'
  | 'value'
  | 'json'
  | 'ends'
  | 'address'
  | 'long json'
  | 'list'
  | 'items'
  | 'members'
  | 'text'
  | 'file'
  | 'largest file'

export type Header = readonly [string, string]

/** A request without its credential and its signature, which the sender adds. */
export interface FuzzRequest {
  /** The operation that the request was derived from. After a mutation it may be another operation, or none. */
  readonly operation: Operation
  readonly kind: FuzzKind
  readonly what: string
  readonly caller: CallerName
  readonly signature: 'right' | 'wrong' | 'stale' | 'none'
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  /** Makes the body, which may have megabytes. */
  readonly body?: () => string | Buffer
  /** Sends the exact bytes over a socket, for a request that no HTTP library would send. */
  readonly overSocket?: boolean
  /** The one place that has an unusual value. */
  readonly changed?: ChangedPlace
  readonly mustBeRefused?: boolean
}

export interface ChangedPlace {
  readonly place: Place
  /** The unusual value: JSON in a body, a text in an address. */
  readonly value: string
}

/** The caller that may send the valid request of an endpoint. */
export const rightfulCaller = ({ who }: Pick<Endpoint, 'who'>): CallerName =>
  who.kind === 'service' ? 'service-A' : who.kind === 'dashboard' ? 'owner-A' : 'nobody'

interface Unusual {
  readonly kind: FuzzKind
  readonly what: string
  readonly path: string
  readonly body?: () => string | Buffer
  readonly type?: string
  readonly changed?: ChangedPlace
  readonly mustBeRefused?: boolean
}

/** A request to an endpoint, by the caller that may send it. */
export function requestTo(
  endpoint: Endpoint,
  { path, type = 'application/json', ...own }: Unusual,
): FuzzRequest {
  return {
    ...own,
    operation: endpoint.name as Operation,
    method: endpoint.method,
    target: path,
    headers: own.body === undefined ? [] : [['Content-Type', type]],
    caller: rightfulCaller(endpoint),
    signature: signsOf(endpoint) === null ? 'none' : 'right',
  }
}

const contentOf = ({ body, text }: WalkRequest): Pick<Unusual, 'body' | 'type'> =>
  text !== undefined
    ? { type: text.type, body: () => text.bytes }
    : body === undefined
      ? {}
      : { body: () => JSON.stringify(body) }

export const validRequest = (endpoint: Endpoint, valid: WalkRequest): FuzzRequest =>
  requestTo(endpoint, { kind: 'valid', what: 'a valid request', path: valid.path, ...contentOf(valid) })

const isNumber = ({ type }: ValueSchema) => type === 'number' || type === 'integer'

/** The unusual values to try at a place, by the type of its schema. */
export function valuesFor({ in: part, schema }: Pick<Place, 'in' | 'schema'>): readonly string[] {
  if (part !== 'body') return isNumber(schema) ? numberParameters : texts
  if (isNumber(schema)) return numberTexts
  return schema.type === 'string' || schema.enum !== undefined
    ? [...otherTypes, ...texts.map((text) => JSON.stringify(text))]
    : otherTypes
}

/** Whether a value must be refused: its schema does not permit it, or it is a number that is negative or in an unusual notation. */
function mustBeRefused({ who }: Endpoint, { in: part, schema, path }: Place, value: string): boolean {
  if (part !== 'body') {
    // An empty text is an absent parameter. A path without the parameter belongs to another operation; a query may be valid without it.
    if (value === '') return false
    if (isNumber(schema)) return !/^(0|[1-9]\d*)(\.\d+)?$/.test(value) || !Value.Check(schema, Number(value))
    return !Value.Check(schema, value.toWellFormed())
  }
  let sent: unknown
  try {
    sent = JSON.parse(value)
  } catch {
    return true
  }
  // Null counts as an absent member, except as an item of a list. From another system, so does an empty text.
  if (sent === null && path.at(-1) !== 0) return false
  if (sent === '' && who.kind === 'service') return false
  if (isNumber(schema) && (typeof sent !== 'number' || !Number.isFinite(sent) || sent < 0)) return true
  return !Value.Check(schema, sent)
}

/** One request for each place and each value of `valuesFor` there. */
export function* valueRequests(endpoint: Endpoint, valid: WalkRequest): Generator<FuzzRequest> {
  for (const place of placesOf(endpoint, valid)) {
    for (const value of valuesFor(place)) {
      const changed = place.holding(value)
      yield requestTo(endpoint, {
        kind: 'value',
        what: `${place.name}: ${value.slice(0, 60)}`,
        path: changed.path,
        ...(place.in === 'body' ? contentOf(changed) : contentOf(valid)),
        changed: { place, value },
        mustBeRefused: mustBeRefused(endpoint, place, value),
      })
    }
  }
}

/** Bodies that JSON parsers read differently, and valid bodies with fields at the ends of what the contract permits. */
export function* bodyRequests(
  endpoint: Endpoint,
  valid: WalkRequest,
  random: SeededRandom,
  choices: number,
): Generator<FuzzRequest> {
  if (endpoint.body === undefined || endpoint.bodyKind === 'csv') return
  const { path } = valid
  for (const bytes of jsonBodies) {
    const what = bytes.toString().slice(0, 60)
    yield requestTo(endpoint, {
      kind: 'json',
      what,
      path,
      body: () => bytes,
      mustBeRefused: isNoObject(bytes),
    })
  }
  const schema = endpoint.body as ValueSchema
  const body = bodyOf(valid)
  for (const ends of endChoices(schema, body, random, choices)) {
    yield requestTo(endpoint, {
      kind: 'ends',
      what: JSON.stringify([...ends]).slice(0, 300),
      path,
      body: () => JSON.stringify(withEnds(schema, body, (field) => ends.get(field) ?? null)),
    })
  }
}

/** True for bytes, not empty, that no parser reads as a JSON object. */
function isNoObject(bytes: string | Buffer): boolean {
  const text = bytes.toString()
  if (text === '') return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value !== 'object' || value === null || Array.isArray(value)
  } catch {
    return true
  }
}

type Heavy = Omit<Unusual, 'path'>

const textLengthDefault = 1_000
const bytesIn = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2
const said = (word: string) => JSON.stringify(word)

/** The longest text, in characters, that repeats `word` and takes at most `bytes` in JSON. */
const fitting = (word: string, bytes: number) =>
  Math.floor((bytes / Math.max(1, bytesIn(word))) * word.length)

const bytesWith = (place: Place, json: string) => place.holding(json).text?.bytes ?? ''

function* longTexts(places: readonly Place[], bytesMax: number): Generator<Heavy> {
  for (const place of places.filter(({ schema }) => schema.type === 'string' || schema.enum !== undefined)) {
    const value = typeof place.valid === 'string' ? place.valid.slice(0, 200) : 'Dallas, TX'
    const room = bytesMax - Buffer.byteLength(bytesWith(place, '""'))
    for (const [nth, word] of repeated.entries()) {
      const all = fitting(word, room)
      // A text that is a body by itself is parsed and rewritten.
      const { maxLength = 0 } = place.schema
      for (const bytes of maxLength < 60_000 ? [] : new Set([Math.min(room, maxLength), room])) {
        const object = () => JSON.stringify({ a: runOf(word, fitting(word, bytes) / 2) })
        yield {
          kind: 'text',
          what: `${place.name}: a JSON object of ${bytes} bytes of ${said(word)}`,
          body: () => bytesWith(place, JSON.stringify(object())),
        }
      }
      for (const length of new Set([Math.min(all, place.schema.maxLength ?? textLengthDefault), all])) {
        // The longest text that the schema permits gets two forms, the longest that can be sent one form.
        for (const form of length === all ? [nth] : [nth, nth + 2]) {
          yield {
            kind: 'text',
            what: `${place.name}: ${length} characters of ${said(word)}, form ${form % formsCount}`,
            body: () => bytesWith(place, JSON.stringify(textOf(word, length - bytesIn(value), value, form))),
          }
        }
      }
    }
  }
}

/** The largest value of a schema, with about `bytes` of JSON. In a list, the texts of each item end in its number. */
function largest(schema: ValueSchema, word: string, bytes: number, nth = 0, mostItems = true): unknown {
  const own = inner(schema)
  if (own.type === 'object') return largestObject(own, word, bytes, { nth, mostItems })
  if (own.type === 'array') return largestList(own, word, bytes, mostItems)
  if (!isLong(own)) return endOf(own, 'largest', undefined, nth)
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
  // `bytes` is infinite only when `sizeAt` measures one item.
  const isBound = Number.isFinite(bytes)
  const each = isBound ? bytes / items - 1 : bytes
  return Array.from({ length: isBound ? items : Math.min(items, 20) }, (_, at) =>
    largest(item, word, each, at, mostItems),
  )
}

/** True for a text of any length, unlike a day, whose form fixes its length. */
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

/** A valid item of a list, with its own id, a customer name as long as permitted, and as many charges as permitted. */
function longestItem({ properties = {} }: ValueSchema, valid: object, nth: number): object {
  const longer = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] => {
    const own = inner(schema)
    const item = inner(own.items ?? {})
    if (name === 'external_id' || name === 'id') return [[name, `longest-${nth}`.padEnd(100, 'x')]]
    if (name === 'customer_name') return [[name, endOf(own, 'largest', undefined, nth)]]
    if (own.type !== 'array' || item.properties?.amount === undefined) return []
    const charge = (at: number) => ({ name: `${'c'.repeat(30)} ${at}`, amount: 1 + at })
    return [[name, Array.from({ length: own.maxItems ?? 20 }, (_, at) => charge(at))]]
  })
  const made = Object.fromEntries(longer)
  // An item names its quote in one way only.
  return { ...valid, ...made, ...('external_id' in made ? { lane_ref: undefined } : {}) }
}

function* longLists(places: readonly Place[], bytesMax: number): Generator<Heavy> {
  for (const place of places.filter(({ schema }) => schema.type === 'array')) {
    const room = bytesMax - Buffer.byteLength(bytesWith(place, '')) - 64
    const list = (what: string, made: () => string): Heavy => ({
      kind: 'list',
      what: `${place.name}: ${what}`,
      body: () => bytesWith(place, made()),
    })
    const { items = {}, maxItems = 10_000 } = place.schema
    const [first] = Array.isArray(place.valid) ? place.valid : []
    if (typeof first === 'object' && first !== null) {
      const size = JSON.stringify(longestItem(items, first, 0)).length + 8
      const count = Math.min(maxItems, Math.floor(room / size))
      const made = () => Array.from({ length: count }, (_, nth) => longestItem(items, first, nth))
      yield { ...list(`${count} valid items, the longest`, () => JSON.stringify(made())), kind: 'items' }
    }
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
          JSON.stringify(largest(place.schema, word, room, 0, mostItems)),
        )
      }
    }
  }
}

function* longMembers(schema: ValueSchema, valid: object, bytesMax: number): Generator<Heavy> {
  const sent = Object.entries(schema.properties ?? {}).filter(([name]) => name in valid)
  const ofValid = { ...schema, properties: Object.fromEntries(sent) }
  const members = (what: string, made: () => unknown): Heavy => ({
    kind: 'members',
    what,
    body: () => JSON.stringify(made()),
  })
  for (const word of repeated) {
    yield members(`all members, of ${said(word)}`, () => largest(schema, word, bytesMax - 200))
    yield members(`the members of a valid body, of ${said(word)}`, () => ({
      ...valid,
      ...(largest(ofValid, word, bytesMax / 2) as object),
    }))
  }
}

/** Bodies of long or deep JSON, with any members. */
function* longJson(valid: string, bytesMax: number, keysMax: number): Generator<Heavy> {
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
  const long = (what: string, body: () => string | Buffer): Heavy => ({
    kind: 'long json',
    what: `a body of ${what}`,
    body,
  })
  for (const [what, start, unit, end] of filled) {
    const count = Math.floor((bytesMax - start.length - end.length) / unit.length)
    yield long(what, () => `${start}${unit.repeat(count)}${end}`)
  }
  for (const item of ['0', '{}', '[]']) {
    const count = Math.min(keysMax + jsonItemsMax, Math.floor(bytesMax / (item.length + 1)) - 10) - 1
    yield long(
      `${count} items ${item}, as many as are read`,
      () => `{"a":[${`${item},`.repeat(count - 1)}${item}]}`,
    )
  }
  for (const count of [keysMax, keysMax + 1, 200_000]) {
    const room = Math.min(500, Math.floor(bytesMax / count) - 6)
    if (room < 6) continue
    yield long(`${count} keys`, () => {
      const members = Array.from({ length: count }, (_, at) => `"${String(at).padEnd(room, 'k')}":1`)
      return `{${members.join(',')}}`
    })
  }
  yield long('bytes that are not UTF-8', () => Buffer.alloc(bytesMax, 0xff))
}

/** Addresses with one long parameter, up to the longest address, and addresses with the most parameters. */
function* longAddresses(
  places: readonly Place[],
  path: string,
): Generator<Pick<Unusual, 'kind' | 'what' | 'path'>> {
  for (const { in: part, name, schema, holding } of places) {
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
  const start = `${path}${path.includes('?') ? '&' : '?'}`
  for (const pair of ['a=&', 'a&', '&', '%', '=', '%20', '+', 'limit=1&', '__proto__=1&', ';']) {
    const count = Math.floor((uriBytesMax - path.length - 40) / pair.length)
    yield { kind: 'address', what: `a query of ${pair}`, path: `${start}${pair.repeat(count)}` }
  }
}

/** The longest requests to an endpoint, except those with files. */
export function* longRequests(endpoint: Endpoint, valid: WalkRequest): Generator<FuzzRequest> {
  const { path } = valid
  const places = placesOf(endpoint, valid)
  yield validRequest(endpoint, valid)
  for (const one of longAddresses(places, path)) yield requestTo(endpoint, { ...one, ...contentOf(valid) })
  if (endpoint.body === undefined || endpoint.bodyKind === 'csv') return
  const bytesMax = bodyBytesMaxOf(endpoint)
  const body = bodyOf(valid)
  const members = places.filter((place) => place.in === 'body')
  for (const long of [
    longJson(JSON.stringify(body), bytesMax, bodyKeysMaxOf(endpoint)),
    longLists(members, bytesMax),
    longMembers(endpoint.body as ValueSchema, body, bytesMax),
    longTexts(members, bytesMax),
  ]) {
    for (const one of long) yield requestTo(endpoint, { ...one, path })
  }
}
