import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/market-rates.ts'
import { recordEvent } from '../../audit/index.ts'
import { marketRates } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

/** Erases all rates of a source. @throws Problem not-found if there are none */
export async function eraseMarketSource(
  call: Call<typeof contract.eraseMarketSource>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.eraseMarketSource>> {
  const { caller, params } = call
  return database.inTenant(caller.tenant, async (transaction) => {
    const erased = await marketRates.eraseMarketSource(transaction, caller.tenant, params.source)
    if (erased === 0) {
      throw problem('not-found', `There are no market rates of the source ${JSON.stringify(params.source)}.`)
    }
    await recordEvent(transaction, call, 'market-source-erased', {
      about: { source: params.source, rates: erased },
    })
    return { source: params.source, erased }
  })
}
