import { marketRates as market } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'
import { marketRateDay, marketSourceOf } from './seeded-fuel.ts'
import type { TenantIds } from './seeded-ids.ts'
import { canaryOf } from './seeded-tenants.ts'

/** The areas of the seeded market rate. */
const marketPairOf = ({ label }: Pick<TenantIds, 'label'>) => ({
  scope: 'lane' as const,
  originArea: `${canaryOf(label)}market_rates-origin_area`,
  destinationArea: `${canaryOf(label)}market_rates-destination_area`,
})

/** A rate with the key of the seeded one. */
function seededMarketRate(ids: TenantIds, now: Date): market.NewMarketRate {
  const { scope, originArea, destinationArea } = marketPairOf(ids)
  return {
    scope,
    origin_area: originArea,
    destination_area: destinationArea,
    equipment_code: `${canaryOf(ids.label)}market_rates-equipment_code`,
    source: marketSourceOf(ids),
    basis: 'all_in',
    kind: 'buy',
    currency: 'USD',
    as_of: marketRateDay,
    mid_cents: 200_000,
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    entered_by: 'push',
    said_at: now,
  }
}

/** Database functions for market rates. See `database-methods.ts`. */
export const marketMethods: Readonly<Record<string, Method>> = {
  'market-rates.lockSameMarketRates': returnsCanary(({ transaction, tenant, ids, now }) =>
    market.lockSameMarketRates(transaction, tenant, [seededMarketRate(ids, now)]),
  ),
  'market-rates.putMarketRates': changesRows(({ transaction, tenant, ids, now }) =>
    market.putMarketRates(transaction, tenant, [{ ...seededMarketRate(ids, now), mid_cents: 1 }]),
  ),
  'market-rates.marketRatesOf': returnsCanary(({ transaction, tenant, ids }) =>
    market.marketRatesOf(transaction, tenant, [marketPairOf(ids)], null),
  ),
  'market-rates.marketRatesSince': returnsCanary(({ transaction, tenant, ids }) =>
    market.marketRatesSince(transaction, tenant, [marketPairOf(ids)], new Date(0)),
  ),
  'market-rates.newestMarketRates': returnsCanary(({ transaction, tenant }) =>
    market.newestMarketRates(transaction, tenant, null, 10),
  ),
  'market-rates.listMarketSources': returnsResult(({ transaction, tenant }) =>
    market.listMarketSources(transaction, tenant),
  ),
  'market-rates.eraseMarketSource': changesRows(({ transaction, tenant, ids }) =>
    market.eraseMarketSource(transaction, tenant, marketSourceOf(ids)),
  ),
  'market-rates.storedPairs': returnsCanary(({ transaction, tenant }) =>
    market.storedPairs(transaction, tenant),
  ),
}
