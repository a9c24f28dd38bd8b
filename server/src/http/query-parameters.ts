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

/** Makes the reader of an endpoint's queries. */
export function queryReader(schema: TObject = Type.Object({})): ReadQuery {
  const check = shape(schema, 'parameter')
  return (url, ignored) => {
    const sent: Record<string, string> = {}
    for (const part of sentParts(url)) {
      const [name, value] = readPart(part)
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
    return values
  }
}
