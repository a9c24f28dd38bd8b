import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { batchSecondsMax } from '#contract/limits.ts'
import {
  addMarketRates,
  eraseMarketSource,
  listMarketRates,
  loadMarketFile,
  pushMarketFile,
  pushMarketRates,
} from '#contract/market-rates.ts'
import { marketRateState } from '#engine/market-rate.ts'
import { recordEvent } from '../../audit/index.ts'
import { type MarketRateRow, marketRates } from '../../database/queries/index.ts'
import { readMarketEnds } from '../../lanes/index.ts'
import { inHundreds, permitsLeftByPushes } from '../../limits/index.ts'
import { type ServedEndpoint, type Signed, serve } from '../endpoint-call.ts'
import { countResults } from '../integration/pushed-items.ts'
import { comparableRate, rateConversions } from '../performance/comparable-rates.ts'
import { reserveFile } from '../quotes/received-files.ts'
import { loadRateFile } from './market-rate-files.ts'
import {
  type CheckedRate,
  checkMarketRates,
  type MarketResult,
  refusedRate,
  storeMarketRates,
} from './market-rate-items.ts'
import { rateAnswer } from './market-reference.ts'

const listedDefault = 50

const saidAt = ({ timestampSeconds }: Signed) => new Date(timestampSeconds * 1000)

function notReached({ index }: CheckedRate): MarketResult {
  const detail = `This rate was not reached within ${batchSecondsMax} seconds. Send it again.`
  return { index, status: 503, detail }
}

export const marketRateEndpoints: ServedEndpoint[] = [
  serve(pushMarketRates, async ({ caller, body, signed, now }, parts) => {
    const { tenant } = caller
    const conversions = await parts.database.inTenant(tenant, (transaction) =>
      rateConversions(transaction, tenant, objectsOf(body.rates)),
    )
    const by = { enteredBy: 'push', saidAt: saidAt(signed), now, conversions } as const
    const checked = await checkMarketRates(body.rates, by)
    const results = await inHundreds<CheckedRate, MarketResult>(
      checked,
      async (hundred, _, inTime) => {
        if (hundred.every((one) => 'errors' in one)) {
          return hundred.flatMap((one) => ('errors' in one ? refusedRate(one.index, one.errors) : []))
        }
        if (!inTime()) return hundred.map(notReached)
        return parts.database.inTenant(tenant, (transaction) =>
          storeMarketRates(transaction, tenant, hundred),
        )
      },
      tenant,
      parts,
      permitsLeftByPushes,
    )
    return { ...countResults(results), results }
  }),

  serve(addMarketRates, async ({ caller, body, now }, { database }) => {
    const conversions = await database.inTenant(caller.tenant, (transaction) =>
      rateConversions(transaction, caller.tenant, objectsOf(body.rates)),
    )
    const by = { enteredBy: 'hand', saidAt: new Date(now), now, conversions } as const
    const checked = await checkMarketRates(body.rates, by)
    const results = await database.inTenant(caller.tenant, (transaction) =>
      storeMarketRates(transaction, caller.tenant, checked),
    )
    return { ...countResults(results), results }
  }),

  serve(
    loadMarketFile,
    async ({ caller, body, now }, parts) =>
      loadRateFile({ tenant: caller.tenant, body, saidAt: new Date(now), now }, parts),
    { beforeBody: async ({ caller, bytes }, parts) => reserveFile(parts, caller.tenant, bytes) },
  ),

  serve(
    pushMarketFile,
    async ({ caller, body, signed, now }, parts) =>
      loadRateFile({ tenant: caller.tenant, body, saidAt: saidAt(signed), now }, parts),
    { beforeBody: async ({ caller, bytes }, parts) => reserveFile(parts, caller.tenant, bytes) },
  ),

  serve(
    listMarketRates,
    async ({ caller, query, now }, { database }): Promise<AnswerOf<typeof listMarketRates>> =>
      database.inTenant(caller.tenant, async (transaction) => {
        const sources = await marketRates.listMarketSources(transaction, caller.tenant)
        const rows = await marketRates.newestMarketRates(
          transaction,
          caller.tenant,
          query.source ?? null,
          query.limit ?? listedDefault,
        )
        const conversions = await rateConversions(transaction, caller.tenant, rows)
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
      }),
  ),

  serve(eraseMarketSource, async (call, { database }) => {
    const { caller, params } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const erased = await marketRates.eraseMarketSource(transaction, caller.tenant, params.source)
      if (erased === 0) {
        throw problem(
          'not-found',
          `There are no market rates of the source ${JSON.stringify(params.source)}.`,
        )
      }
      await recordEvent(transaction, call, 'market-source-erased', {
        about: { source: params.source, rates: erased },
      })
      return { source: params.source, erased }
    })
  }),
]

/** The sent rates that are objects: the others are refused one by one. */
const objectsOf = (rates: readonly unknown[]) =>
  rates.filter((one): one is object => typeof one === 'object' && one !== null)

/** The miles of a stored rate; null for an area without a place. */
function milesBetween({ scope, origin, destination }: MarketRateRow): number | null {
  return (
    readMarketEnds(scope, { origin, destination }, (field) => ({ pointer: `/${field}` }), [])?.miles ?? null
  )
}
