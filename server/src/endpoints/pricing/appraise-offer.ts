import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import { newestQuotes, type ScopeQuote } from '#engine/book/scope-counts.ts'
import type { RateType } from '#engine/rate-type.ts'
import {
  appraiser,
  type BrokerageBook,
  type LaneInColumns,
  type NamedCustomer,
  namedCustomer,
  type OpenBook,
  ownScope,
  type QuotedOn,
  type Reader,
} from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type AskedLane, lanePlaces } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** Who requests an appraisal, and for which customer. */
interface AskedFor {
  readonly tenant: TenantId
  readonly now: number
  /** The person who requests it; null for a machine. */
  readonly repId: number | null
  /** Absent: the appraisal is for no particular customer. */
  readonly customerName: string | undefined
}

/** An offer on a lane, without its rate. */
export interface AskedOffer {
  readonly asked: AskedLane
  /** The truck cost that was entered, unconverted; null without one. */
  readonly enteredCents: number | null
  /** The basis, charges and currency of the rate and the cost; absent if none was stated. */
  readonly quoted?: QuotedOn
  /** A typed distance; absent or null without one. */
  readonly miles?: number | null
  /** Null: the brokerage's default rate type. */
  readonly rateType: RateType | null
  /** The mode and the stops; absent for a direct truckload. */
  readonly load?: Pick<LaneInColumns, 'mode' | 'stops'>
}

/** An appraisal, with the other data of its explanation. */
export interface AppraisedOffer {
  readonly appraisal: Appraisal
  /** The quotes of the city pair and the rate type with this equipment, or with all if none was requested. */
  readonly history: readonly ScopeQuote[]
  /** The requested equipment, else the most quoted one. */
  readonly equipmentCode: string | null
  readonly customer: NamedCustomer | null
}

/** Returns a function that appraises the offers of a request. An offer without an equipment gets the most quoted one of its city pair. */
export async function offerAppraiser(
  open: OpenBook<BrokerageBook>,
  { tenant, now, repId, customerName }: AskedFor,
  { database }: Pick<Parts, 'database'>,
): Promise<(offer: AskedOffer) => Promise<AppraisedOffer>> {
  const { quotes, settings } = open
  const pricing = { book: { ...(await quotes.advice(now)), quotes }, settings }
  const read: Reader = (work) => database.inTenant(tenant, work)
  const appraisalOf = appraiser(pricing, { tenant, now, read })
  const customer = await namedCustomer(customerName, pricing, tenant, read)
  return async ({ asked, enteredCents, quoted, miles = null, rateType, load }) => {
    const { places } = asked
    const pool = rateType ?? settings.rateType
    const scope = ownScope(quotes.quotes, asked, { equipmentCode: asked.equipmentCode, pool })
    const history = await yieldBetweenSteps(newestQuotes(quotes.quotes, scope, Number.POSITIVE_INFINITY))
    const equipmentCode = asked.equipmentCode ?? mostQuoted(history)
    const lane = lanePlaces(places.origin, places.destination, null)
    const appraisal = await appraisalOf({
      lane: { ...lane, ...load, miles, equipment_code: equipmentCode },
      ...(load === undefined ? { measured: lane.miles ?? null } : {}),
      quotedFor: { customerName: customerName ?? null, repId, rateType },
      quoted,
      enteredCents,
      customer,
    })
    return { appraisal, history, equipmentCode, customer }
  }
}

/** The most quoted equipment type of a city pair; null without quotes. */
function mostQuoted(history: readonly ScopeQuote[]): string | null {
  const counts = new Map<string, number>()
  for (const { equipmentCode } of history) counts.set(equipmentCode, (counts.get(equipmentCode) ?? 0) + 1)
  return (
    [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))[0]?.[0] ?? null
  )
}
