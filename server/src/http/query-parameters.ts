import Type, { type TObject } from 'typebox'
import { invalid, problem } from '#contract/errors.ts'
import { readParameters, shape } from '#contract/shape.ts'

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * The parameters of an address in the order they were sent, read as forms are: a plus is a space. Every read passes here,
 * so it is done by hand: URLSearchParams, whose reading this is, takes several times as long, and lets broken codes pass.
 *
 * @throws Problem malformed-request, forbidden-key
 * @example sentParameters('/lane?origin=Dallas%2C+TX&x') // [['origin', 'Dallas, TX'], ['x', '']]
 */
export function sentParameters(url: string): [string, string][] {
  return sentParts(url).map(readPart)
}

/** What stands between the signs of an address that part its parameters. */
function sentParts(url: string): string[] {
  const start = url.indexOf('?')
  if (start === -1) return []
  // A second question mark is no part of the first name.
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
      'The query has a percent sign that is not followed by the code of a UTF-8 text.',
    )
  }
}

/**
 * The parameters of an address as an endpoint's schema types them. Names that it does not know are put into `ignored`.
 *
 * @throws Problem invalid, and those of sentParameters
 */
export type ReadQuery = (url: string, ignored: string[]) => Record<string, unknown>

/** Some five megabytes of parts of addresses, each at most so long. */
export const keptPartsMax = 20_000
const keptPartLengthMax = 150

/**
 * Reads the queries of an endpoint. A parameter that was right once is right again, whatever stands beside it: for the
 * schema of a query says something of each by itself. So of the parts that were seen, `keepMax` are not decoded and checked
 * anew.
 */
export function queryReader(schema: TObject = Type.Object({}), keepMax = 0): ReadQuery {
  const check = shape(schema, 'parameter')
  const required = schema.required?.length ?? 0
  const right = new Map<
    string,
    { readonly name: string; readonly value: unknown; readonly isRequired: boolean }
  >()

  function readAgain(url: string): Record<string, unknown> | null {
    const values: Record<string, unknown> = {}
    let found = 0
    for (const part of url.slice(url.indexOf('?') + 1).split('&')) {
      const known = right.get(part)
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
      if (right.size >= keepMax) right.clear()
      // A part of a text keeps the whole in memory, and this is a part of an address.
      const own = Buffer.from(part, 'latin1').toString('latin1')
      if (own !== part) continue
      right.set(own, { name, value: values[name], isRequired: schema.required?.includes(name) ?? false })
    }
  }

  return (url, ignored) => {
    const again = right.size === 0 ? null : readAgain(url)
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
