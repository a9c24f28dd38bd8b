import type { Endpoint } from '#contract/endpoint.ts'
import { type BodyPath, pointerTo } from '#contract/shape.ts'
import type { WalkRequest } from './route-requests.ts'
import { endOf, inner, type ValueSchema } from './value-ends.ts'

/** A parameter of an address, or a member of a body at any depth (in lists: of the first item). */
export interface Place {
  readonly in: 'path' | 'query' | 'body'
  /** The name of the parameter, or the path of the member, such as `lanes/0/origin`. */
  readonly name: string
  /** The name of the parameter, or the steps to the member. */
  readonly path: BodyPath
  /** The schema of the value, without null. */
  readonly schema: ValueSchema
  /** The value in the valid request, if any. */
  readonly valid: unknown
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
      return { in: 'path', name, path: [name], schema: inner(schema), valid: route.split('/')[at], holding }
    }),
    ...named(endpoint.query).map(([name, schema]): Place => {
      const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`))
      const holding = (value: string) => ({
        ...valid,
        path: `${route}?${[...others, `${name}=${encoded(value)}`].join('&')}`,
      })
      return { in: 'query', name, path: [name], schema: inner(schema), valid: undefined, holding }
    }),
    ...(endpoint.body === undefined || endpoint.bodyKind === 'csv' ? [] : membersOf(endpoint, valid)),
  ]
}

/** A text that JSON.stringify does not change. It marks where a value is put in. */
const mark = '@@here@@'

function membersOf(endpoint: Endpoint, valid: WalkRequest): Place[] {
  const schema = endpoint.body as ValueSchema
  const body = bodyOf(valid)
  return pathsIn(schema).map(({ path, schema: own }) => {
    const holding = (value: string) => {
      const [before = '', after = ''] = JSON.stringify(withAt(schema, body, path, mark)).split(`"${mark}"`)
      return { path: valid.path, text: { type: 'application/json', bytes: `${before}${value}${after}` } }
    }
    return { in: 'body', name: path.join('/'), path, schema: own, valid: valueAt(body, path), holding }
  })
}

function pathsIn(schema: ValueSchema, path: BodyPath = []): { path: BodyPath; schema: ValueSchema }[] {
  const own = inner(schema)
  const below =
    own.type === 'array'
      ? pathsIn(own.items ?? {}, [...path, 0])
      : Object.entries(own.properties ?? {}).flatMap(([name, of]) => pathsIn(of, [...path, name]))
  return path.length === 0 ? below : [{ path, schema: own }, ...below]
}

/** A copy of a value with another one at a path. Objects and lists on the way are added as the schema permits them. */
function withAt(schema: ValueSchema, value: unknown, path: BodyPath, put: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put
  const own = inner(schema)
  if (step === 0) {
    const items =
      Array.isArray(value) && value.length > 0 ? value : [endOf(own.items ?? {}, 'smallest', undefined)]
    return [withAt(own.items ?? {}, items[0], rest, put), ...items.slice(1)]
  }
  const object = (value ?? {}) as Record<string, unknown>
  return { ...object, [step]: withAt(own.properties?.[step] ?? {}, object[step], rest, put) }
}

/** What a body has at a path. */
export function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined | null)?.[step], body)
}

export const pointerOf = ({ path }: Pick<Place, 'path'>): string => pointerTo(path)
