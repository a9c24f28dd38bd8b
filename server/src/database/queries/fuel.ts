import { type DieselPrice, type FuelPeriod, fuelCustomerKey } from '#engine/fuel-surcharge.ts'
import type { TenantTransaction } from '../schema/index.ts'
import type { TenantId } from '../session/index.ts'

/** A period of a schedule, with the name of its customer; an empty name for the schedule of the brokerage. */
export interface CustomerFuelPeriod extends FuelPeriod {
  readonly customerName: string
}

/** The periods of all schedules, first that of the brokerage, then those of customers by name; oldest first. */
export async function listFuelPeriods(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<CustomerFuelPeriod[]> {
  return transaction
    .selectFrom('fuel_periods')
    .select(['customer_name as customerName', 'from_day as fromDay', 'until_day as untilDay', 'rule'])
    .where('tenant_id', '=', tenant)
    .orderBy('customer_key')
    .orderBy('from_day')
    .execute()
}

/** Replaces the schedule of a customer, or with an empty name that of the brokerage. No periods: it has no schedule. */
export async function replaceFuelPeriods(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerName: string,
  periods: readonly FuelPeriod[],
): Promise<void> {
  const customerKey = fuelCustomerKey(customerName)
  await transaction
    .deleteFrom('fuel_periods')
    .where('tenant_id', '=', tenant)
    .where('customer_key', '=', customerKey)
    .execute()
  if (periods.length === 0) return
  await transaction
    .insertInto('fuel_periods')
    .values(
      periods.map(({ fromDay, untilDay, rule }) => ({
        tenant_id: tenant,
        customer_key: customerKey,
        customer_name: customerName.trim(),
        from_day: fromDay,
        until_day: untilDay,
        rule: JSON.stringify(rule),
      })),
    )
    .execute()
}

/** Adds prices, and corrects the stored ones of the same weeks. Returns how many weeks are new or have another price. */
export async function putDieselPrices(
  transaction: TenantTransaction,
  tenant: TenantId,
  prices: readonly DieselPrice[],
): Promise<number> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('diesel_prices')
    .values(prices.map(({ week, mills }) => ({ tenant_id: tenant, week, mills })))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'week'])
        .doUpdateSet((row) => ({ mills: row.ref('excluded.mills') }))
        .whereRef('diesel_prices.mills', '<>', 'excluded.mills'),
    )
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows)
}

/** The prices of the newest weeks up to a day, newest first. */
export async function newestDieselPrices(
  transaction: TenantTransaction,
  tenant: TenantId,
  day: string,
  weeks: number,
): Promise<DieselPrice[]> {
  return transaction
    .selectFrom('diesel_prices')
    .select(['week', 'mills'])
    .where('tenant_id', '=', tenant)
    .where('week', '<=', day)
    .orderBy('week', 'desc')
    .limit(weeks)
    .execute()
}
