import { commonExtras } from '#contract/insight-extras.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import type { UnknownPlaces } from '#contract/unknown-places.ts'
import type { BrokerageBook, OpenBook } from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type AskedLane, type FindClosest, unknownPlaces } from '../../lanes/index.ts'
import type { Parts } from '../parts.ts'
import { basisOfLane } from '../performance/compared-basis.ts'

/** The members that `include` can add to markup and lane insight alike. An answer has none that were not asked for. */
export interface CommonMembers {
  readonly basis?: ComparedBasis
  readonly unknown_places?: UnknownPlaces
}

/** What a read asks about, and which common members it wants. */
export interface AskedInsight {
  readonly include: ReadonlySet<string>
  readonly query: { readonly origin: string; readonly destination: string }
  readonly asked: AskedLane
  readonly closest?: FindClosest
}

/** True if a read asks for no other additions than the common ones, so that its answer needs only the book's counts. */
export function isPlain(include: ReadonlySet<string>): boolean {
  return [...include].every((extra) => (commonExtras as readonly string[]).includes(extra))
}

export async function commonMembers(
  { include, query, asked, closest }: AskedInsight,
  open: OpenBook<BrokerageBook>,
  tenant: TenantId,
  parts: Pick<Parts, 'database'>,
): Promise<CommonMembers> {
  return {
    ...(include.has('basis') ? { basis: await basisOfLane(open, asked, tenant, parts) } : {}),
    ...(include.has('places') ? { unknown_places: unknownPlaces(query, asked, closest) } : {}),
  }
}
