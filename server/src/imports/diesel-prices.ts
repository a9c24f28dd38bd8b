import type { DieselPrice } from '#engine/fuel-surcharge.ts'
import { counted } from '#engine/wording.ts'
import { type Doing, recordEvent } from '../audit/index.ts'
import { fuel } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'

/**
 * Stores diesel prices for the brokerage of the caller or operator, with the audit event of the change. Returns how many
 * weeks are new or have another price; without any, there is no event.
 *
 * @param prices of a file, oldest week first
 * @example await storeDieselPrices(transaction, byOperator(tenant, now), readDieselFile(text)) // 52
 */
export async function storeDieselPrices(
  transaction: TenantTransaction,
  doing: Doing,
  prices: readonly DieselPrice[],
): Promise<number> {
  const changed = await fuel.putDieselPrices(transaction, doing.caller.tenant, prices)
  if (changed > 0) {
    const after = { diesel_prices: `${counted(changed, 'week')} of a file up to ${prices.at(-1)?.week}` }
    await recordEvent(transaction, doing, 'settings-changed', { about: { before: {}, after } })
  }
  return changed
}
