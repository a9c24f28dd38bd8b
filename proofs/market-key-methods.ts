import { marketKeys as keys } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'
import { marketRateDay } from './seeded-fuel.ts'

const seeded = { secret_id: 1, set_at: marketRateDay }

/** Database functions for the keys of providers of market rates. See `database-methods.ts`. */
export const marketKeyMethods: Readonly<Record<string, Method>> = {
  'market-keys.listMarketKeys': returnsCanary(({ transaction, tenant }) =>
    keys.listMarketKeys(transaction, tenant),
  ),
  'market-keys.putMarketKey': changesRows(({ transaction, tenant, now }) =>
    keys.putMarketKey(transaction, tenant, { secretId: 1, sealed: Buffer.alloc(40), setAt: now }),
  ),
  'market-keys.deleteMarketKey': changesRows(({ transaction, tenant }) =>
    keys.deleteMarketKey(transaction, tenant, 1),
  ),
  'market-keys.noteMarketCall': changesRows(({ transaction, tenant, now }) =>
    keys.noteMarketCall(transaction, tenant, seeded, { at: now, failure: null }),
  ),
  'market-keys.marketCalls': returnsResult(({ transaction, tenant, now }) =>
    keys.marketCalls(transaction, tenant, now.getTime()),
  ),
  'market-keys.countMarketCall': changesRows(({ transaction, tenant, now }) =>
    keys.countMarketCall(transaction, tenant, now.getTime()),
  ),
  'market-keys.sealedMarketKeys': returnsResult(({ transaction, tenant }) =>
    keys.sealedMarketKeys(transaction, tenant, 0, 10),
  ),
}
