import { type Area, areaName, type QuoteBook } from '#engine/book/quote-book.ts'
import type { Scope } from '#engine/book/scope-counts.ts'
import type { Pool } from '#engine/rate-type.ts'
import type { LaneScope } from '#engine/scopes.ts'
import type { AskedLane } from '../quotes/index.ts'

/** A scope of a requested lane, and a name that no other scope of the brokerage has. */
export interface NamedScope extends Scope {
  readonly name: string
}

/** An area without quotes. */
const nowhere: Area = { revision: 0, corridors: [] }

/** A scope of the lane, with the quotes of one pool. Null if the lane has no such scope, because a place is outside every region. */
export function askedScope(
  book: QuoteBook,
  scope: LaneScope,
  asked: AskedLane,
  pool: Pool,
): NamedScope | null {
  const { origin, destination, equipmentCode } = asked
  const wider = (name: string | null): NamedScope | null =>
    name === null
      ? null
      : { name: nameOf(name, equipmentCode, pool), area: book.area(name) ?? nowhere, equipmentCode, pool }
  switch (scope) {
    case 'equipment':
      return ownScope(book, asked, { equipmentCode, pool })
    case 'corridor':
      return ownScope(book, asked, { equipmentCode: null, pool })
    case 'market':
      return wider(areaName.markets(origin.market, destination.market))
    case 'state_pair':
      return wider(areaName.states(origin.state, destination.state))
    case 'region':
      return wider(areaName.regions(origin.state, destination.state))
    case 'tenant':
      return { name: nameOf('all', equipmentCode, pool), area: book.all, equipmentCode, pool }
  }
}

function nameOf(area: string, equipmentCode: string | null, pool: Pool): string {
  return `${area} ${equipmentCode ?? ''} ${pool}`
}

/** The city pair itself: the quotes of a pool, with one type of equipment or with all (null). */
export function ownScope(
  book: QuoteBook,
  { origin, destination }: AskedLane,
  { equipmentCode, pool }: Pick<Scope, 'equipmentCode' | 'pool'>,
): NamedScope {
  return {
    name: nameOf(`${origin.key} > ${destination.key}`, equipmentCode, pool),
    area: book.corridor(origin.key, destination.key) ?? nowhere,
    equipmentCode,
    pool,
  }
}
