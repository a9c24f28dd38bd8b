import type { DayCharges } from '#engine/appraisal/shown-appraisal.ts'
import type { AmountTerms, Currency, RateBasis } from '#engine/rate-basis.ts'
import { conversions, fuel, type NewQuote, statedTerms, type TermColumn } from '../database/queries/index.ts'
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

/** The basis, charges and currency of a quote's amounts. Absent or null: the brokerage's default basis, and US dollars. */
export type QuotedOn = Pick<NewQuote, TermColumn<'quoted'>>

export function termsOfQuote(quoted: QuotedOn): AmountTerms {
  return statedTerms(quoted, 'quoted')
}

/** The fuel charge per mile by the customer's schedule, and the exchange rate, both of one day. */
export async function dayRatesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  { customerName, at }: { readonly customerName: string | null; readonly at: Date },
): Promise<DayCharges> {
  const day = at.toISOString().slice(0, 10)
  const { rate } = await fuel.fuelOfDay(transaction, tenant, customerName, day)
  return { fuelMillsPerMile: rate, usdPerCad: await conversions.usdPerCadOn(transaction, tenant, day) }
}
