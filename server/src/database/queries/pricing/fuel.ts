import { customerKey } from '#engine/customer-name.ts'
import { fuelDays } from '#engine/fuel-days.ts'
import type { DieselPrice, FuelPeriod } from '#engine/fuel-surcharge.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { insertRows } from '../insert-rows.ts'
import { lockTenant } from '../people/people.ts'
import { conversionsChanged } from './conversions.ts'

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

/** Replaces the schedule of a customer or, with an empty name, of the brokerage. Without periods, the schedule is deleted. */
export async function replaceFuelPeriods(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerName: string,
  periods: readonly FuelPeriod[],
): Promise<void> {
  // The days are computed from all periods and prices. Without the lock, a concurrent change would be lost.
  await lockTenant(transaction, tenant)
  const key = customerKey(customerName)
  await transaction
    .deleteFrom('fuel_periods')
    .where('tenant_id', '=', tenant)
    .where('customer_key', '=', key)
    .execute()
  if (periods.length > 0) {
    await transaction
      .insertInto('fuel_periods')
      .values(
        periods.map(({ fromDay, untilDay, rule }) => ({
          tenant_id: tenant,
          customer_key: key,
          customer_name: customerName.trim(),
          from_day: fromDay,
          until_day: untilDay,
          rule: JSON.stringify(rule),
        })),
      )
      .execute()
  }
  await computeFuelDays(transaction, tenant, { scheduleKey: key, since: firstDay })
}

const firstDay = '0001-01-01'

/**
 * Computes the daily fuel surcharges again, of one schedule or (null) of all, from a day on. The caller passes a day on which no
 * earlier diesel price is in force: the first of a saved price's week, or one before all prices.
 */
async function computeFuelDays(
  transaction: TenantTransaction,
  tenant: TenantId,
  { scheduleKey, since }: { readonly scheduleKey: string | null; readonly since: string },
): Promise<void> {
  let stored = transaction
    .selectFrom('fuel_periods')
    .select(['customer_key', 'from_day as fromDay', 'until_day as untilDay', 'rule'])
    .where('tenant_id', '=', tenant)
  let old = transaction.deleteFrom('fuel_days').where('tenant_id', '=', tenant).where('day', '>=', since)
  if (scheduleKey !== null) {
    stored = stored.where('customer_key', '=', scheduleKey)
    old = old.where('customer_key', '=', scheduleKey)
  }
  const periods = await stored.execute()
  const { numDeletedRows } = await old.executeTakeFirstOrThrow()
  const prices =
    periods.length === 0
      ? []
      : await transaction
          .selectFrom('diesel_prices')
          .select(['week', 'mills'])
          .where('tenant_id', '=', tenant)
          .where('week', '>=', since)
          .execute()
  const days = [...Map.groupBy(periods, ({ customer_key: key }) => key)].flatMap(([key, own]) =>
    fuelDays(own, prices, since).map((one) => ({ key, ...one })),
  )
  if (days.length > 0) {
    await insertRows(transaction, tenant, 'fuel_days', [
      { name: 'customer_key', type: 'text', values: days.map(({ key }) => key) },
      { name: 'day', type: 'date', values: days.map(({ day }) => day) },
      { name: 'mills_per_mile', type: 'float8', values: days.map(({ millsPerMile }) => millsPerMile) },
    ])
  }
  if (days.length === 0 && numDeletedRows === 0n) return
  await conversionsChanged(transaction, tenant)
}

/** The fuel surcharges of a day in mills per mile, not rounded; null if unknown. */
export interface FuelOfDay {
  /** By the schedule of the customer if it covers the day, else of the brokerage: for rates. */
  readonly rate: number | null
  /** By the schedule of the brokerage: for costs. */
  readonly cost: number | null
}

/** The surcharges of a day (UTC) for the quotes of a customer. */
export async function fuelOfDay(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerName: string | null,
  day: string,
): Promise<FuelOfDay> {
  const key = customerKey(customerName ?? '')
  const rows = await transaction
    .selectFrom('fuel_days')
    .select(['customer_key', 'mills_per_mile'])
    .where('tenant_id', '=', tenant)
    .where('day', '=', day)
    .where('customer_key', 'in', ['', key])
    .execute()
  const of = (wanted: string) => rows.find((row) => row.customer_key === wanted)?.mills_per_mile ?? null
  return { rate: of(key) ?? of(''), cost: of('') }
}

/** Saves prices, in place of earlier prices of the same weeks. Returns how many weeks are new or have another price. */
export async function saveDieselPrices(
  transaction: TenantTransaction,
  tenant: TenantId,
  prices: readonly DieselPrice[],
): Promise<number> {
  await lockTenant(transaction, tenant)
  const changed = await transaction
    .insertInto('diesel_prices')
    .values(prices.map(({ week, mills }) => ({ tenant_id: tenant, week, mills })))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'week'])
        .doUpdateSet((row) => ({ mills: row.ref('excluded.mills') }))
        .whereRef('diesel_prices.mills', '<>', 'excluded.mills'),
    )
    .returning('week')
    .execute()
  const [first] = changed.map(({ week }) => week).sort()
  if (first !== undefined) await computeFuelDays(transaction, tenant, { scheduleKey: null, since: first })
  return changed.length
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
