import Type, { type TObject } from 'typebox'
import { invalid, problem } from '#contract/errors.ts'
import { readParameters, shape } from '#contract/shape.ts'

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * The query parameters of a URL in the order sent, decoded like a form: a plus is a space. Every read passes through
 * this code, so it is written by hand: URLSearchParams gives the same result, takes several times as long, and accepts
 * invalid percent codes.
 *
 * @throws Problem malformed-request, forbidden-key
 * @example sentParameters('/lane?origin=Dallas%2C+TX&x') // [['origin', 'Dallas, TX'], ['x', '']]
 */
export function sentParameters(url: string): [string, string][] {
  return sentParts(url).map(readPart)
}

/** The undecoded `name=value` parts of a query. */
function sentParts(url: string): string[] {
  const start = url.indexOf('?')
  if (start === -1) return []
  // A second question mark is not part of the first name.
  const text = url.slice(url[start + 1] === '?' ? start + 2 : start + 1)
  return text.split('&').filter((part) => part !== '')
}

function readPart(part: string): [string, string] {
  const equals = part.indexOf('=')
  const name = decoded(equals === -1 ? part : part.slice(0, equals))
  if (forbiddenNames.has(name)) throw problem('forbidden-key', `The parameter "${name}" is not allowed.`)
  return [name, equals === -1 ? '' : decoded(part.slice(equals + 1))]
}

function decoded(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced.toWellFormed()
  try {
    return decodeURIComponent(spaced).toWellFormed()
  } catch {
    throw problem(
      'malformed-request',
      'The query has a percent sign that is not followed by a valid UTF-8 code.',
    )
  }
}

/**
 * Reads the query parameters of a URL with the types of an endpoint's schema. Unknown names are added to `ignored`.
 *
 * @throws Problem invalid, and those of sentParameters
 */
export type ReadQuery = (url: string, ignored: string[]) => Record<string, unknown>

/** The number of cached `name=value` parts: about five megabytes at the maximum length of a part. */
export const keptPartsMax = 20_000
const keptPartLengthMax = 150

/**
 * Makes the reader of an endpoint's queries. It caches up to `keepMax` validated `name=value` parts, so that a repeated
 * part is not decoded and validated again. This is safe because each parameter is validated independently of the others.
 */
export function queryReader(schema: TObject = Type.Object({}), keepMax = 0): ReadQuery {
  const check = shape(schema, 'parameter')
  const required = schema.required?.length ?? 0
  const validated = new Map<
    string,
    { readonly name: string; readonly value: unknown; readonly isRequired: boolean }
  >()

  function readAgain(url: string): Record<string, unknown> | null {
    const values: Record<string, unknown> = {}
    let found = 0
    for (const part of url.slice(url.indexOf('?') + 1).split('&')) {
      const known = validated.get(part)
      if (known === undefined || values[known.name] !== undefined) return null
      values[known.name] = known.value
      if (known.isRequired) found++
    }
    return found === required ? values : null
  }

  function keep(parts: readonly string[], values: Readonly<Record<string, unknown>>): void {
    for (const part of parts) {
      if (part.length > keptPartLengthMax) continue
      const [name] = readPart(part)
      if (!check.names.has(name)) continue
      if (validated.size >= keepMax) validated.clear()
      // A substring keeps the whole URL in memory, so the part is copied.
      const own = Buffer.from(part, 'latin1').toString('latin1')
      if (own !== part) continue
      validated.set(own, { name, value: values[name], isRequired: schema.required?.includes(name) ?? false })
    }
  }

  return (url, ignored) => {
    const again = validated.size === 0 ? null : readAgain(url)
    if (again !== null) return again
    const sent: Record<string, string> = {}
    const parts = sentParts(url)
    for (const [name, value] of parts.map(readPart)) {
      if (!check.names.has(name)) {
        ignored.push(name)
        continue
      }
      if (sent[name] !== undefined) {
        throw invalid([
          { parameter: name, code: 'repeated', detail: `${name} was sent twice; send it once.` },
        ])
      }
      sent[name] = value
    }
    const values = readParameters(schema, sent)
    const errors = check.errors(values)
    if (errors.length > 0) throw invalid(errors)
    if (keepMax > 0) keep(parts, values)
    return values
  }
}
