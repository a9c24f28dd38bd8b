import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import {
  listMarketKeys,
  type MarketAdapterName,
  marketAdapterNames,
  removeMarketKey,
  setMarketKey,
} from '#contract/market-keys.ts'
import { marketKeyPlace } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { marketKeys } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { adapterNumber, sourceOfAdapter } from '../../market-adapters/index.ts'
import { seal } from '../../security/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

async function keysAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { marketAdapters, clock }: Pick<Parts, 'marketAdapters' | 'clock'>,
): Promise<AnswerOf<typeof listMarketKeys>> {
  const stored = await marketKeys.listMarketKeys(transaction, tenant)
  const calls = await marketKeys.marketCalls(transaction, tenant, clock())
  return {
    calls_per_day: calls.max,
    calls_today: calls.used,
    keys: marketAdapterNames.map((adapter: MarketAdapterName) => {
      const key = stored.find(({ secret_id: id }) => id === adapterNumber(adapter))
      return {
        adapter,
        source: sourceOfAdapter[adapter],
        available: marketAdapters !== null,
        set_at: key?.set_at.toISOString() ?? null,
        answered_at: key?.answered_at?.toISOString() ?? null,
        failure: key?.failure ?? null,
        failed_at: key?.failed_at?.toISOString() ?? null,
        retry_at: key?.retry_at?.toISOString() ?? null,
      }
    }),
  }
}

export const marketKeyEndpoints: ServedEndpoint[] = [
  serve(listMarketKeys, ({ caller: { tenant } }, parts) =>
    parts.database.inTenant(tenant, (transaction) => keysAnswer(transaction, tenant, parts)),
  ),

  serve(setMarketKey, (call, parts) => {
    const { caller, body, now } = call
    const { tenant } = caller
    const secretId = adapterNumber(body.adapter)
    if ((body.adapter === 'dat') !== (body.user !== undefined)) {
      const detail =
        body.adapter === 'dat'
          ? 'user must be the e-mail address of a user of DAT: rates are asked for on behalf of a user.'
          : 'user is only accepted with adapter dat; remove it.'
      throw invalid([{ pointer: '/user', code: body.user === undefined ? 'required' : 'invalid', detail }])
    }
    const { client_id, client_secret, user } = body
    const plaintext = JSON.stringify({ client_id, client_secret, user })
    const sealed = seal(parts.secretKeys[0], marketKeyPlace(tenant, secretId), plaintext)
    return parts.database.inTenant(tenant, async (transaction) => {
      await marketKeys.putMarketKey(transaction, tenant, { secretId, sealed, setAt: new Date(now) })
      await recordEvent(transaction, call, 'market-key-set', {
        about: { source: sourceOfAdapter[body.adapter] },
      })
      return keysAnswer(transaction, tenant, parts)
    })
  }),

  serve(removeMarketKey, (call, parts) => {
    const { caller, query } = call
    const { tenant } = caller
    return parts.database.inTenant(tenant, async (transaction) => {
      if (await marketKeys.deleteMarketKey(transaction, tenant, adapterNumber(query.adapter))) {
        await recordEvent(transaction, call, 'market-key-removed', {
          about: { source: sourceOfAdapter[query.adapter] },
        })
      }
      return keysAnswer(transaction, tenant, parts)
    })
  }),
]
