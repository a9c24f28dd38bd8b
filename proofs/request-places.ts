import type { Endpoint } from '#contract/endpoint.ts'
import type { ValueSchema } from './extreme-values.ts'
import type { WalkRequest } from './route-requests.ts'

/** A parameter of an address, or a member of a body. */
export interface Place {
  readonly in: 'path' | 'query' | 'body'
  readonly name: string
  readonly schema: ValueSchema
  /** Returns the valid request with another value here: a text in an address, JSON in a body. */
  holding(value: string): WalkRequest
}

/** The body of a valid request that is JSON. */
export const bodyOf = ({ body, text }: WalkRequest): Record<string, unknown> =>
  (body ?? JSON.parse(text?.bytes ?? '{}')) as Record<string, unknown>

/**
 * Returns the places of a request, in the order of its declaration.
 *
 * @example placesOf(setOutcome, valid).find(({ name }) => name === 'reason')?.holding('"price"')
 */
export function placesOf(endpoint: Endpoint, valid: WalkRequest): Place[] {
  const named = (schema: unknown) => Object.entries((schema as ValueSchema | undefined)?.properties ?? {})
  const [route = '', query = ''] = valid.path.split('?')
  const encoded = (value: string) => encodeURIComponent(value.toWellFormed())
  return [
    ...named(endpoint.params).map(([name, schema]): Place => {
      const at = endpoint.path.split('/').indexOf(`{${name}}`)
      const holding = (value: string) => {
        const changed = route.split('/').with(at, encoded(value)).join('/')
        return { ...valid, path: query === '' ? changed : `${changed}?${query}` }
      }
      return { in: 'path', name, schema, holding }
    }),
    ...named(endpoint.query).map(([name, schema]): Place => {
      const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`))
      const holding = (value: string) => ({
        ...valid,
        path: `${route}?${[...others, `${name}=${encoded(value)}`].join('&')}`,
      })
      return { in: 'query', name, schema, holding }
    }),
    ...(endpoint.bodyKind === 'csv' ? [] : named(endpoint.body)).map(([name, schema]): Place => {
      const holding = (value: string) => {
        const others = Object.entries(bodyOf(valid)).filter(([known]) => known !== name)
        const members = others.map(([known, held]) => `${JSON.stringify(known)}:${JSON.stringify(held)}`)
        const bytes = `{${[...members, `${JSON.stringify(name)}:${value}`].join(',')}}`
        return { path: valid.path, text: { type: 'application/json', bytes } }
      }
      return { in: 'body', name, schema, holding }
    }),
  ]
}
