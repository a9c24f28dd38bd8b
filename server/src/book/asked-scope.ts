import { type Area, areaName, type QuoteBook } from '#engine/book/quote-book.ts'
import type { Scope } from '#engine/book/scope-counts.ts'
import type { LaneScope } from '#engine/scopes.ts'
import type { AskedLane } from '../lanes/index.ts'

/** A scope of a requested lane, and a name that no other scope of the brokerage has. */
export interface AskedScope extends Scope {
  readonly name: string
}

/** An area without quotes. */
const nowhere: Area = { revision: 0, corridors: [] }

/** The quotes of a scope of a lane. Null if the lane has no such scope, because a place is outside every region. */
export function askedScope(book: QuoteBook, scope: LaneScope, asked: AskedLane): AskedScope | null {
  const { origin, destination, equipmentCode } = asked
  const wider = (name: string | null): AskedScope | null =>
    name === null
      ? null
      : { name: `${name} ${equipmentCode ?? ''}`, area: book.area(name) ?? nowhere, equipmentCode }
  switch (scope) {
    case 'equipment':
      return ownScope(book, asked, equipmentCode)
    case 'corridor':
      return ownScope(book, asked, null)
    case 'market':
      return wider(areaName.markets(origin.market, destination.market))
    case 'state_pair':
      return wider(areaName.states(origin.state, destination.state))
    case 'region':
      return wider(areaName.regions(origin.state, destination.state))
    case 'tenant':
      return { name: `all ${equipmentCode ?? ''}`, area: book.all, equipmentCode }
  }
}

/** The city pair itself, with one type of equipment or with all (null). */
export function ownScope(
  book: QuoteBook,
  { origin, destination }: AskedLane,
  equipmentCode: string | null,
): AskedScope {
  return {
    name: `${origin.key} > ${destination.key} ${equipmentCode ?? ''}`,
    area: book.corridor(origin.key, destination.key) ?? nowhere,
    equipmentCode,
  }
}
