import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import type { AmountConversions, Currency, RateBasis } from '#engine/rate-basis.ts'
import { conversions, fuel } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/** Whether an amount is on the other basis or in Canadian dollars. */
export function needsConversion(
  basis: RateBasis | null | undefined,
  currency: Currency | null | undefined,
  wanted: RateBasis,
): boolean {
  return (basis ?? wanted) !== wanted || currency === 'CAD'
}

/** What amounts are converted with if nothing but their own charges is known. */
export const ownChargesOnly: AmountConversions = { scheduledFuelCents: null, usdPerCad: null }

/**
 * What the amounts of a quote of a day are converted with: `rates` follow the fuel schedule of the customer, `costs` that of
 * the brokerage, as in the view `counted_lanes`.
 */
export async function conversionsOfQuote(
  transaction: TenantTransaction,
  tenant: TenantId,
  { customerName, at, miles }: { customerName: string | null; at: Date; miles: number | null },
): Promise<{ readonly rates: AmountConversions; readonly costs: AmountConversions }> {
  const day = at.toISOString().slice(0, 10)
  const { rate, cost } = await fuel.fuelOfDay(transaction, tenant, customerName, day)
  const usdPerCad = await conversions.usdPerCadOn(transaction, tenant, day)
  const charge = (mills: number | null) =>
    mills === null || miles === null ? null : fuelOfMiles(mills, miles)
  return {
    rates: { scheduledFuelCents: charge(rate), usdPerCad },
    costs: { scheduledFuelCents: charge(cost), usdPerCad },
  }
}
