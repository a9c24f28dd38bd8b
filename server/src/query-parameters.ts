import { problem } from '#contract/errors.ts'

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * The parameters of an address in the order they were sent, read as forms are: a plus is a space. Every read passes here,
 * so it is done by hand: URLSearchParams, whose reading this is, takes several times as long, and lets broken codes pass.
 *
 * @throws Problem malformed-request, forbidden-key
 * @example sentParameters('/lane?origin=Dallas%2C+TX&x') // [['origin', 'Dallas, TX'], ['x', '']]
 */
export function sentParameters(url: string): [string, string][] {
  const start = url.indexOf('?')
  if (start === -1) return []
  // A second question mark is no part of the first name.
  const text = url.slice(url[start + 1] === '?' ? start + 2 : start + 1)
  const pairs: [string, string][] = []
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decoded(equals === -1 ? part : part.slice(0, equals))
    if (forbiddenNames.has(name)) throw problem('forbidden-key', `The parameter "${name}" is not allowed.`)
    pairs.push([name, equals === -1 ? '' : decoded(part.slice(equals + 1))])
  }
  return pairs
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
