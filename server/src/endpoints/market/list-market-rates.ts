import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/market-rates.ts'
import { marketRateState } from '#engine/market-rate.ts'
import { type MarketRateRow, marketRates } from '../../database/queries/index.ts'
import { readMarketEnds } from '../../quotes/index.ts'
import type { ReadCall } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { comparableRate, rateConversions } from '../performance/comparable-rates.ts'
import { rateAnswer } from './market-reference.ts'

const listedDefault = 50

/** The sources of market rates, and the newest rates, each with its present state. */
export async function listMarketRates(
  { caller: { tenant }, query, now }: ReadCall<typeof contract.listMarketRates>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.listMarketRates>> {
  return database.inTenant(tenant, async (transaction) => {
    const sources = await marketRates.listMarketSources(transaction, tenant)
    const rows = await marketRates.newestMarketRates(
      transaction,
      tenant,
      query.source ?? null,
      query.limit ?? listedDefault,
    )
    const conversions = await rateConversions(transaction, tenant, rows)
    return {
      sources: sources.map(({ source, rates, newest, oldest }) => ({
        source,
        rates,
        newest_as_of: newest.toISOString(),
        oldest_as_of: oldest.toISOString(),
      })),
      rates: rows.map((row) => {
        const rate = comparableRate(row, conversions, milesBetween(row))
        return rateAnswer(rate, marketRateState(rate, { at: now, basis: conversions.basis }), now)
      }),
    }
  })
}

/** The miles between the ends of a saved rate; null if an end is an area without a center. */
function milesBetween({ scope, origin, destination }: MarketRateRow): number | null {
  return (
    readMarketEnds(scope, { origin, destination }, (field) => ({ pointer: `/${field}` }), [])?.miles ?? null
  )
}
