import type { Endpoint } from './endpoint.ts'
import { unknownKeysMax } from './limits.ts'

interface BodySchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, BodySchema>>
  readonly items?: BodySchema
  readonly maxItems?: number
}

/**
 * The maximum number of keys in an endpoint's JSON body: the keys of the largest body that its schema permits, and `unknownKeysMax`
 * unknown ones in the body and in each item of its lists.
 *
 * @example bodyKeysMaxOf(shipmentUpdate) // 919: 19 fields, 40 charges of two keys, and 20 unknown keys in the body and in each charge
 */
export function bodyKeysMaxOf({ name, body }: Pick<Endpoint, 'name' | 'body'>): number {
  const schema = body as BodySchema | undefined
  const lists = Object.values(schema?.properties ?? {}).filter(({ items }) => items?.type === 'object')
  const items = lists.reduce((total, list) => total + (list.maxItems ?? 0), 0)
  return largestBodyKeys(schema ?? {}, name) + unknownKeysMax * (1 + items)
}

/** The keys of the largest value that a schema permits. */
function largestBodyKeys({ type, properties, items, maxItems }: BodySchema, where: string): number {
  if (type === 'object') {
    return Object.entries(properties ?? {}).reduce(
      (total, [name, member]) => total + 1 + largestBodyKeys(member, `${where}/${name}`),
      0,
    )
  }
  const inItem = type === 'array' ? largestBodyKeys(items ?? {}, `${where}/*`) : 0
  if (inItem > 0 && maxItems === undefined) throw new Error(`The list ${where} has no maxItems.`)
  return inItem * (maxItems ?? 0)
}
