import { type Problem, problem } from '#contract/errors.ts'
import { pointerTo } from '#contract/shape.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

export interface JsonLimits {
  readonly depthMax: number
  readonly keysMax: number
}

/**
 * Parses a body as one JSON object, strictly: valid UTF-8 without a byte order mark, no duplicate keys (parsers disagree on
 * which value wins), no keys that reach a prototype, and a bounded depth and number of keys.
 *
 * @throws Problem malformed-json, duplicate-key, forbidden-key, body-too-large
 */
export function readJsonObject(bodyBytes: Buffer, limits: JsonLimits): Record<string, unknown> {
  let text: string
  try {
    text = decoder.decode(bodyBytes)
  } catch {
    throw problem('malformed-json', 'The body is not valid UTF-8.')
  }
  if (text.startsWith('\uFEFF'))
    throw problem('malformed-json', 'The body begins with a byte-order mark; leave it out.')
  if (text.trim() === '') throw problem('malformed-json', 'The body is empty: send a JSON object.')
  // Check the depth first: JSON.parse would build a hundred thousand levels before they could be rejected.
  checkKeys(text, limits)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw problem('malformed-json', whyNotJson(text))
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
  [/[{,]\s*[A-Za-z_$]/, () => 'The name of a member stands without quotes; put it in double quotes.'],
]

/** A JSON string, even if unterminated. Matches in linear time. */
const jsonString = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)/g

/** Explains why a text is not valid JSON, for common mistakes. */
function whyNotJson(text: string): string {
  const outsideStrings = text.replaceAll(jsonString, '""')
  for (const [form, detail] of notJson) {
    const found = form.exec(outsideStrings)
    if (found !== null) return `The body is not valid JSON: ${detail(found[0])}`
  }
  return 'The body is not valid JSON.'
}

/**
 * One pass over the text that tracks only strings and brackets. It is exact for valid JSON. For other text it may be wrong,
 * but JSON.parse rejects such text afterwards.
 */
function checkKeys(text: string, limits: JsonLimits): void {
  const open: Opened[] = []
  let keyCount = 0
  let expectsKey = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    const around = open.at(-1)
    if (character === '"') {
      const start = at
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
      if (expectsKey && around?.keys !== undefined) {
        if (++keyCount > limits.keysMax) throw tooManyKeys(open, limits)
        const key = readString(text.slice(start, at + 1))
        if (forbiddenKeys.has(key)) throw problem('forbidden-key', `The key "${key}" is not allowed.`)
        if (around.keys.has(key)) throw problem('duplicate-key', `The key ${shown(key)} appears twice.`)
        around.keys.add(key)
        around.step = key
        expectsKey = false
      }
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? { keys: new Set(), step: '' } : { keys: undefined, step: 0 })
      expectsKey = character === '{'
      if (open.length > limits.depthMax) {
        throw problem('malformed-json', `The body is nested more than ${limits.depthMax} levels deep.`)
      }
    } else if (character === '}' || character === ']') {
      open.pop()
      expectsKey = false
    } else if (character === ',' && around !== undefined) {
      expectsKey = around.keys !== undefined
      if (typeof around.step === 'number') around.step++
    }
  }
}

/** An object or a list whose end was not read yet: the keys of an object, and the key or index that is being read. */
interface Opened {
  readonly keys: Set<string> | undefined
  step: string | number
}

/** A body with too many keys. The error names the object with the first one too many; names in its path are shortened. */
function tooManyKeys(open: readonly Opened[], { keysMax }: JsonLimits): Problem {
  const pointer = pointerTo(
    open.slice(0, -1).map(({ step }) => (typeof step === 'string' ? step.slice(0, 60) : step)),
  )
  const most = keysMax.toLocaleString('en-US')
  const where = pointer === '' ? '' : `; the first one too many is in ${pointer}`
  const detail = `The body must have at most ${most} keys in all objects together${where}. Leave out unknown fields, or send several smaller bodies.`
  return problem('body-too-large', detail, { errors: [{ pointer, code: 'too-many-keys', detail }] })
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
