import { type AnsweredPool, commonExtras } from '#contract/insight-extras.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import type { UnknownPlaces } from '#contract/unknown-places.ts'
import { countScope } from '#engine/book/scope-counts.ts'
import type { Pool, RateType } from '#engine/rate-type.ts'
import { type BrokerageBook, type OpenBook, ownScope } from '../../book/index.ts'
import type { BookSettings } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type AskedLane, type FindClosest, unknownPlaces } from '../../quotes/index.ts'
import type { Parts } from '../parts.ts'
import { basisOfLane } from '../performance/compared-basis.ts'

/** The members that `include` can add to markup and to lane insight. An answer has only those that were requested. */
export interface SharedExtras {
  readonly basis?: ComparedBasis
  readonly unknown_places?: UnknownPlaces
  readonly pool?: AnsweredPool
}

/** The lane and the query of a read, and the members that it requests with `include`. */
export interface AskedInsight {
  readonly include: ReadonlySet<string>
  readonly query: { readonly origin: string; readonly destination: string; readonly rate_type?: Pool }
  readonly asked: AskedLane
  readonly closest?: FindClosest
  /** True for a signed-in person, false or absent for a machine. */
  readonly isPerson?: boolean
}

/** The pool of quotes that an answer counts (spot, contract or all), and the setting or parameter that decided it. */
export function poolOf(
  { rate_type: asked }: { readonly rate_type?: Pool },
  { rateType, pool }: Pick<BookSettings, 'rateType' | 'pool'>,
  { isPerson = false }: Pick<AskedInsight, 'isPerson'>,
): { readonly pool: Pool; readonly because: AnsweredPool['because'] } {
  if (asked !== undefined) return { pool: asked, because: 'rate_type' }
  return isPerson ? { pool: rateType, because: 'default_rate_type' } : { pool, because: 'integration_pool' }
}

/** The rate type of an estimate. Null if the pool is all quotes: the estimate is then for the brokerage's default type. */
export function rateTypeIn(pool: Pool): RateType | null {
  return pool === 'all' ? null : pool
}

/** True if a read requests only common members, so that its answer needs only the book's counts. */
export function isPlain(include: ReadonlySet<string>): boolean {
  return [...include].every((extra) => (commonExtras as readonly string[]).includes(extra))
}

function answeredPool(
  query: AskedInsight['query'],
  asked: AskedLane,
  { quotes: { quotes }, settings }: OpenBook<BrokerageBook>,
  isPerson: boolean,
): AnsweredPool {
  const { pool, because } = poolOf(query, settings, { isPerson })
  const { equipmentCode } = asked
  const countOf = (rateType: RateType) =>
    countScope(ownScope(quotes, asked, { equipmentCode, pool: rateType })).quotes
  return { rate_type: pool, because, quotes: { spot: countOf('spot'), contract: countOf('contract') } }
}

export async function sharedExtras(
  { include, query, asked, closest, isPerson = false }: AskedInsight,
  open: OpenBook<BrokerageBook>,
  tenant: TenantId,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<SharedExtras> {
  return {
    ...(include.has('basis') ? { basis: await basisOfLane(open, asked, tenant, parts) } : {}),
    ...(include.has('pool') ? { pool: answeredPool(query, asked, open, isPerson) } : {}),
    ...(include.has('places') ? { unknown_places: unknownPlaces(query, asked, closest) } : {}),
  }
}
