import { jsonDepthMax } from '#contract/limits.ts'
import { readJsonObject } from './strict-json.ts'

/** A string with its quotes, a number or word, or one character of punctuation. */
const token = /"(?:\\.|[^"\\])*"|[^\s{}[\],:"]+|[{}[\],:]/g

/**
 * The body as common JSON libraries write it: compact, as JavaScript (also indented by two spaces) and as Python's
 * json.dumps (with and without \u escapes). Empty when the body is not one JSON object within the limits of a body.
 *
 * @example reserializedBodies('{"a": 1.0}', 64).includes('{"a":1.0}') // true
 */
export function reserializedBodies(body: string, keysMax: number): string[] {
  try {
    readJsonObject(Buffer.from(body), { depthMax: jsonDepthMax, keysMax })
  } catch {
    return []
  }
  const tokens = body.match(token) ?? []
  const value: unknown = JSON.parse(body)
  const python = tokens.map((one) => (one === ',' || one === ':' ? `${one} ` : one)).join('')
  const written = [
    tokens.join(''),
    JSON.stringify(value),
    JSON.stringify(value, null, 2),
    python,
    python.replaceAll(/[\u007F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ]
  return [...new Set(written)].filter((text) => text !== body)
}
