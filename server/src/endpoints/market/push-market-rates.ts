import type { AnswerOf } from '#contract/endpoint.ts'
import { batchSecondsMax } from '#contract/limits.ts'
import type * as contract from '#contract/market-rates.ts'
import { recordEvent } from '../../audit/index.ts'
import { inHundreds, permitsLeftByPushes } from '../../limits/index.ts'
import type { Call, Signed } from '../endpoint-call.ts'
import { countResults } from '../integration/pushed-items.ts'
import type { Parts } from '../parts.ts'
import { rateConversions } from '../performance/comparable-rates.ts'
import {
  type CheckedRate,
  checkMarketRates,
  type MarketResult,
  refusedRate,
  storeMarketRates,
} from './market-rate-items.ts'

export const saidAt = ({ timestampSeconds }: Signed) => new Date(timestampSeconds * 1000)

function notReached({ index }: CheckedRate): MarketResult {
  const detail = `This rate was not reached within ${batchSecondsMax} seconds. Send it again.`
  return { index, status: 503, detail }
}

/** Saves the valid market rates of a push. The answer states for each rate whether it was saved, or why not. */
export async function pushMarketRates(
  { caller: { tenant }, body, signed, now }: Call<typeof contract.pushMarketRates>,
  parts: Pick<Parts, 'database' | 'tenantLimit' | 'monotonic'>,
): Promise<AnswerOf<typeof contract.pushMarketRates>> {
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
      return parts.database.inTenant(tenant, (transaction) => storeMarketRates(transaction, tenant, hundred))
    },
    tenant,
    parts,
    permitsLeftByPushes,
  )
  return { ...countResults(results), results }
}

/** Saves the valid market rates that a person typed. */
export async function addMarketRates(
  call: Call<typeof contract.addMarketRates>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.addMarketRates>> {
  const {
    caller: { tenant },
    body,
    now,
  } = call
  const conversions = await database.inTenant(tenant, (transaction) =>
    rateConversions(transaction, tenant, objectsOf(body.rates)),
  )
  const by = { enteredBy: 'hand', saidAt: new Date(now), now, conversions } as const
  const checked = await checkMarketRates(body.rates, by)
  const rates = checked.filter((one) => 'row' in one).length
  const results = await database.inTenant(tenant, async (transaction) => {
    const stored = await storeMarketRates(transaction, tenant, checked)
    const about = { rates, by_hand: true }
    if (rates > 0) await recordEvent(transaction, call, 'market-file-loaded', { about })
    return stored
  })
  return { ...countResults(results), results }
}

/** The sent rates that are objects: the others are refused one by one. */
const objectsOf = (rates: readonly unknown[]) =>
  rates.filter((one): one is object => typeof one === 'object' && one !== null)
