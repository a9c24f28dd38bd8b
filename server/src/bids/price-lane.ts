import { type CurvePoint, curveSteps, type PricedLane } from '#engine/bid/bid-lane.ts'
import { costsAhead } from '#engine/estimate/expected-cost.ts'
import { chooseMarketRate } from '#engine/market-rate.ts'
import { formatDollars } from '#engine/money.ts'
import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppraisedOffer,
  type Books,
  type BrokerageBook,
  comparableRate,
  offerAppraiser,
  rateConversions,
} from '../book/index.ts'
import { marketRates } from '../database/queries/index.ts'
import type { BidLaneRow } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type AskedLane, marketPairs, readAskedLane } from '../lanes/index.ts'

interface Parts {
  readonly database: Database
  readonly books: Books<BrokerageBook>
}

/** Prices lanes of a bid whose places are known. */
export type LanePricer = (lane: BidLaneRow) => Promise<PricedLane>

/**
 * Prices lanes for a customer, each by the appraisal that every quote has, as a contract quote at the moment.
 *
 * @throws Problem if the book of the brokerage does not fit into memory
 */
export async function lanePricer(
  { tenant, customerName, now }: { tenant: TenantId; customerName: string; now: number },
  { database, books }: Parts,
): Promise<LanePricer> {
  const open = await books.read(tenant)
  const appraise = await offerAppraiser(open, { tenant, now, repId: null, customerName }, { database })
  const hasMarket = await database.inTenant(
    tenant,
    async (transaction) => (await marketRates.listMarketSources(transaction, tenant)).length > 0,
  )
  return async (lane) => {
    const { origin, destination, equipment_code: code } = lane
    if (origin === null || destination === null) throw new Error('A lane without its places has no price.')
    const asked = readAskedLane({ origin, destination, ...(code === null ? {} : { equipment: code }) })
    const offer = await appraise({
      asked,
      pickupDate: null,
      enteredCents: null,
      miles: lane.miles,
      rateType: 'contract',
    })
    const marketCents = hasMarket
      ? await marketOf(asked, offer, { tenant, now, basis: open.settings.basis }, database)
      : null
    return priceOf(offer, marketCents)
  }
}

async function marketOf(
  { origin, destination }: AskedLane,
  { appraisal, equipmentCode }: AppraisedOffer,
  { tenant, now, basis }: { tenant: TenantId; now: number; basis: 'linehaul' | 'all_in' },
  database: Database,
): Promise<number | null> {
  if (equipmentCode === null) return null
  return database.inTenant(tenant, async (transaction) => {
    const rows = await marketRates.marketRatesOf(
      transaction,
      tenant,
      marketPairs(origin, destination),
      equipmentCode,
    )
    if (rows.length === 0) return null
    const conversions = await rateConversions(transaction, tenant, rows)
    const rates = rows.map((row) => comparableRate(row, conversions, appraisal.miles))
    return chooseMarketRate(rates, { at: now, basis }).used?.midCents ?? null
  })
}

function priceOf({ appraisal, equipmentCode }: AppraisedOffer, marketCents: number | null): PricedLane {
  const suggested = appraisal.rates.toQuote
  const cost = appraisal.cost
  const furthest =
    cost === null || appraisal.models === null
      ? undefined
      : costsAhead(appraisal.models.costs, appraisal.load).at(-1)
  const middle = appraisal.goingCents ?? suggested?.rateCents ?? null
  const curve = middle === null ? [] : curveSteps.flatMap((step) => pointAt(appraisal, middle * step))
  return {
    suggestedCents: suggested?.rateCents ?? null,
    costCents: cost?.cents ?? null,
    costLowCents: furthest === undefined ? null : Math.round(furthest.lowCents),
    costHighCents: furthest === undefined ? null : Math.round(furthest.highCents),
    marketCents,
    minimumCents: appraisal.rules.minimum?.rateCents ?? null,
    belowMinimum: appraisal.rules.minimum?.outside ?? null,
    miles: appraisal.miles,
    equipment: equipmentCode,
    scope: curve.length === 0 ? 'none' : appraisal.decided > 0 ? 'lane' : 'borrowed',
    decided: appraisal.decided,
    reasons: reasonsOf(appraisal, marketCents),
    curve,
  }
}

function pointAt(appraisal: AppraisedOffer['appraisal'], cents: number): CurvePoint[] {
  const rateCents = Math.round(cents)
  const { chance } = appraisal.at(rateCents)
  const share = (value: number) => Math.round(value * 1e4) / 1e4
  return chance === null
    ? []
    : [[rateCents, share(chance.probability), share(chance.interval80.low), share(chance.interval80.high)]]
}

function reasonsOf(
  { miles, decided, optimum, goingCents, cost, rules }: AppraisedOffer['appraisal'],
  marketCents: number | null,
): string[] {
  const suggested =
    rules.target !== null
      ? 'The suggested rate is the target of your rules.'
      : optimum !== null
        ? 'The suggested rate has the highest expected margin.'
        : goingCents !== null
          ? 'The suggested rate is the going rate: there is no cost to weigh it with.'
          : null
  return [
    ...(suggested === null ? [] : [suggested]),
    decided > 0
      ? `${decided} answered contract ${decided === 1 ? 'quote' : 'quotes'} of this lane.`
      : 'No answered contract quote of this lane: the chance comes from other lanes.',
    ...(cost === null ? ['Your own loads say nothing about the cost of this lane.'] : []),
    ...(miles === null ? ['The miles of the lane are not known.'] : []),
    ...(marketCents === null ? [] : [`The market rate is ${formatDollars(marketCents)}.`]),
    ...appliedInWords(rules),
  ]
}
