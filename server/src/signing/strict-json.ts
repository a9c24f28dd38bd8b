import { type Problem, problem } from '#contract/errors.ts'
import { jsonItemsMax, jsonKeyLengthMax } from '#contract/limits.ts'
import { pointerTo } from '#contract/shape.ts'
import { finished, type Steps } from '#engine/steps.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

export interface JsonLimits {
  readonly depthMax: number
  readonly keysMax: number
}

/**
 * Parses a body as one JSON object, strictly: valid UTF-8 without a byte order mark, no duplicate keys (parsers disagree on
 * which value wins), no keys that reach a prototype, and a bounded depth and number of keys and items.
 *
 * @throws Problem malformed-json, duplicate-key, forbidden-key, body-too-large
 */
export function readJsonObject(bodyBytes: Buffer, limits: JsonLimits): Record<string, unknown> {
  return finished(readJsonInSteps(bodyBytes, limits))
}

/** Like `readJsonObject`, in steps: for a body of megabytes, each step takes some milliseconds. */
export function* readJsonInSteps(bodyBytes: Buffer, limits: JsonLimits): Steps<Record<string, unknown>> {
  let text: string
  try {
    text = decoder.decode(bodyBytes)
  } catch {
    throw problem('malformed-json', 'The body is not valid UTF-8.')
  }
  if (text.startsWith('\uFEFF'))
    throw problem('malformed-json', 'The body begins with a byte-order mark; leave it out.')
  if (text.trim() === '') throw problem('malformed-json', 'The body is empty: send a JSON object.')
  yield
  // Check the size first: JSON.parse would build a hundred thousand levels, or millions of items, before they could be rejected.
  yield* checkSize(text, limits)
  yield
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw problem('malformed-json', whyNotJson(text.slice(0, explainedLengthMax)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw problem('malformed-json', 'The body must be a JSON object, such as {"lane_ref": "…"}.')
  }
  return value as Record<string, unknown>
}

/** Syntax of other languages that JSON does not have: a pattern for it outside strings, and what to send instead. */
const notJson: readonly (readonly [form: RegExp, detail: (found: string) => string])[] = [
  [/-?\b(?:NaN|Infinity)\b/, (found) => `${found} is not JSON; leave the member out or send null.`],
  [/\bundefined\b/, () => 'undefined is not JSON; leave the member out or send null.'],
  [/\b(?:None|nil|NULL|Null)\b/, (found) => `${found} is not JSON; send null.`],
  [/\b(?:True|False|TRUE|FALSE)\b/, (found) => `${found} is not JSON; send ${found.toLowerCase()}.`],
  [/'/, () => 'Single quotes are not JSON; put texts and the names of members in double quotes.'],
  [/,\s*[}\]]/, (found) => `The comma before ${found.at(-1)} is not JSON; leave it out.`],
  [/\/[/*]/, () => 'Comments are not JSON; leave them out.'],
  [/[{,]\s*[A-Za-z_$]/, () => 'The name of a member has no quotes; put it in double quotes.'],
]

/** A JSON string, even if unterminated. Matches in linear time. */
const jsonString = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)/g

/** The part of a body that is searched for a mistake, in characters. */
const explainedLengthMax = 256 * 1024

/** Explains why a text is not valid JSON, for common mistakes. */
function whyNotJson(text: string): string {
  const outsideStrings = text.replaceAll(jsonString, '""')
  for (const [form, detail] of notJson) {
    const found = form.exec(outsideStrings)
    if (found !== null) return `The body is not valid JSON: ${detail(found[0])}`
  }
  return 'The body is not valid JSON.'
}

/** Characters per step: less than a millisecond for a text, and some milliseconds for nothing but keys. */
const charactersPerStep = 32 * 1024

const codeOf = (character: string) => character.charCodeAt(0)
const quote = codeOf('"')
const backslash = codeOf('\\')
const comma = codeOf(',')
const openBrace = codeOf('{')
const closeBrace = codeOf('}')
const openBracket = codeOf('[')
const closeBracket = codeOf(']')

/**
 * One pass over the text that tracks only strings, brackets and commas. It is exact for valid JSON. For other text it may be
 * wrong, but JSON.parse rejects such text afterwards.
 */
function* checkSize(text: string, limits: JsonLimits): Steps<void> {
  const open: Opened[] = []
  const itemsMax = limits.keysMax + jsonItemsMax
  let keyCount = 0
  let itemCount = 0
  let expectsKey = false
  let pauseAt = charactersPerStep
  for (let at = 0; at < text.length; at++) {
    if (at >= pauseAt) {
      pauseAt = at + charactersPerStep
      yield
    }
    const code = text.charCodeAt(at)
    if (code === quote) {
      const start = at
      at = endOfString(text, at + 1)
      while (at < text.length && text.charCodeAt(at) !== quote) {
        yield
        at = endOfString(text, at)
      }
      const around = open.at(-1)
      if (expectsKey && around?.keys !== undefined) {
        if (++keyCount > limits.keysMax) throw tooManyKeys(open, limits)
        around.step = addKey(around.keys, text.slice(start, at + 1))
        expectsKey = false
      }
    } else if (code === openBrace || code === openBracket) {
      open.push(code === openBrace ? { keys: new Set(), step: '' } : { keys: undefined, step: 0 })
      expectsKey = code === openBrace
      if (open.length > limits.depthMax) {
        throw problem('malformed-json', `The body is nested more than ${limits.depthMax} levels deep.`)
      }
      // A list has one item more than commas.
      if (code === openBracket && ++itemCount > itemsMax) throw tooManyItems(open, itemsMax)
    } else if (code === closeBrace || code === closeBracket) {
      open.pop()
      expectsKey = false
    } else if (code === comma) {
      const around = open.at(-1)
      if (around === undefined) continue
      expectsKey = around.keys !== undefined
      if (typeof around.step !== 'number') continue
      around.step++
      if (++itemCount > itemsMax) throw tooManyItems(open, itemsMax)
    }
  }
}

/**
 * The end of the string within which a position is, if it is within a step's characters: its quote, or the end of the text. Otherwise,
 * a later position within the string.
 */
function endOfString(text: string, from: number): number {
  const until = Math.min(text.length, from + charactersPerStep)
  let at = from
  while (at < until) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    at += code === backslash ? 2 : 1
  }
  return at
}

/** Adds a key to those of its object, and returns it. @throws Problem malformed-json, forbidden-key, duplicate-key */
function addKey(keys: Set<string>, literal: string): string {
  if (literal.length - 2 > jsonKeyLengthMax) {
    throw problem('malformed-json', `A key of the body is longer than ${jsonKeyLengthMax} characters.`)
  }
  const key = readString(literal)
  if (forbiddenKeys.has(key)) throw problem('forbidden-key', `The key "${key}" is not allowed.`)
  if (keys.has(key)) throw problem('duplicate-key', `The key ${shown(key)} appears twice.`)
  keys.add(key)
  return key
}

/** An object or a list whose end was not read yet: the keys of an object, and the key or index that is being read. */
interface Opened {
  readonly keys: Set<string> | undefined
  step: string | number
}

/** A body with too many keys. The error names the object with the first one too many. */
function tooManyKeys(open: readonly Opened[], { keysMax }: JsonLimits): Problem {
  const pointer = pathOf(open)
  const most = keysMax.toLocaleString('en-US')
  const where = pointer === '' ? '' : `; the first one too many is in ${pointer}`
  const detail = `The body must have at most ${most} keys in all objects together${where}. Leave out unknown fields, or send several smaller bodies.`
  return problem('body-too-large', detail, { errors: [{ pointer, code: 'too-many-keys', detail }] })
}

/** A body with too many items. The error names the list with the first one too many. */
function tooManyItems(open: readonly Opened[], itemsMax: number): Problem {
  const pointer = pathOf(open)
  const most = itemsMax.toLocaleString('en-US')
  const detail = `The body must have at most ${most} items in all lists together; the first one too many is in ${pointer}. Leave out unknown fields, or send several smaller bodies.`
  return problem('body-too-large', detail, { errors: [{ pointer, code: 'too-many-items', detail }] })
}

/** The path of the object or list that is being read, with shortened names. */
function pathOf(open: readonly Opened[]): string {
  return pointerTo(open.slice(0, -1).map(({ step }) => (typeof step === 'string' ? step.slice(0, 60) : step)))
}

function readString(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    return literal
  }
}

function shown(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)
}
