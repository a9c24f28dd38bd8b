import { type FieldError, type Problem, problem } from '#contract/errors.ts'
import { ignoredHeaderLengthMax, ignoredPathsMax, unknownFieldErrorsMax } from '#contract/limits.ts'
import { type BodyPath, pointerTo, spoken } from '#contract/shape.ts'

/** The names in a request that the endpoint does not know, by place: query or body. */
export interface Ignored {
  readonly query: string[]
  readonly body: BodyPath[]
}

const nameLengthMax = 60
/** An unknown name, shortened for the answer. The cut may split a surrogate pair, so the result is made well-formed. */
const shortened = (step: string | number) =>
  typeof step === 'number' ? step : step.slice(0, nameLengthMax).toWellFormed()

/**
 * The response headers that list the ignored names. A member of the body is listed by its path, `lanes/0/quotedRate`.
 * When there are many, a star replaces the index of an item, so that one entry covers the whole list, and
 * `Ignored-Fields-More` counts the entries that did not fit.
 *
 * @example ignoredHeaders({ query: [], body: [['lanes', 0, 'quotedRate']] }) // { 'Ignored-Fields': 'lanes/0/quotedRate' }
 */
export function ignoredHeaders({ query, body }: Ignored): Record<string, string> {
  const paths: BodyPath[] = [...query.map((name) => [name]), ...body]
  const exact = paths.length <= ignoredPathsMax
  const entries = new Set(
    paths.map((path) =>
      path
        .map((step) => (typeof step === 'number' && !exact ? '*' : encodeURIComponent(shortened(step))))
        .join('/'),
    ),
  )
  const shown: string[] = []
  let length = 0
  for (const entry of entries) {
    length += entry.length + 2
    if (shown.length === ignoredPathsMax || (length > ignoredHeaderLengthMax && shown.length > 0)) break
    shown.push(entry)
  }
  return {
    'Ignored-Fields': shown.join(', '),
    ...(shown.length < entries.size ? { 'Ignored-Fields-More': String(entries.size - shown.length) } : {}),
  }
}

/** The Problem for unknown names when the caller requested strict handling, with one error per name. */
export function unknownFields({ query, body }: Ignored): Problem {
  const errors: FieldError[] = [
    ...query.map((name) => error({ parameter: String(shortened(name)) }, [name])),
    ...body.map((path) => error({ pointer: pointerTo(path.map(shortened)) }, path)),
  ]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return problem('unknown-field', `${errors[0]?.detail}${more}`, {
    errors: errors.slice(0, unknownFieldErrorsMax),
  })
}

function error(at: Pick<FieldError, 'parameter' | 'pointer'>, path: BodyPath): FieldError {
  const name = JSON.stringify(spoken(path.map(shortened)))
  return { ...at, code: 'unknown', detail: `${name} is not a field of this request.` }
}

/** True when the header `Prefer` requests strict handling, which rejects unknown names (RFC 7240). */
export function asksStrictHandling(prefer: string | readonly string[] | undefined): boolean {
  return typeof prefer === 'string' && /(^|,)\s*handling\s*=\s*"?strict"?\s*(,|;|$)/i.test(prefer)
}
