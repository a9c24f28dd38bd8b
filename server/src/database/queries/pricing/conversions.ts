import { sql } from 'kysely'
import type { ConversionDays } from '#engine/counted-amounts.ts'
import { type ExchangeRate, exchangeDays } from '#engine/exchange-days.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'
import { insertRows } from '../insert-rows.ts'
import { lockTenant } from '../people/people.ts'

/** Records that amounts are converted in another way now, so that every process converts them again. */
export async function conversionsChanged(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  accessChanged(transaction)
  await transaction
    .updateTable('tenants')
    .set((row) => ({ conversions: row('conversions', '+', 1) }))
    .where('tenant_id', '=', tenant)
    .execute()
}

/** The entered exchange rates, newest first. */
export async function listExchangeRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  limit: number | null,
): Promise<ExchangeRate[]> {
  const query = transaction
    .selectFrom('exchange_days')
    .select(['day', 'usd_per_cad as usdPerCad'])
    .where('tenant_id', '=', tenant)
    .whereRef('day', '=', 'published')
    .orderBy('day', 'desc')
  return (limit === null ? query : query.limit(limit)).execute()
}

/** Saves exchange rates, in place of earlier rates of the same days. Returns how many days are new or have another rate. */
export async function saveExchangeRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  rates: readonly ExchangeRate[],
): Promise<number> {
  // The rate of each day is computed from all entered rates. Without the lock, a concurrent change would be lost.
  await lockTenant(transaction, tenant)
  const stored = await listExchangeRates(transaction, tenant, null)
  const known = new Map(stored.map(({ day, usdPerCad }) => [day, usdPerCad]))
  const changed = rates.filter(({ day, usdPerCad }) => known.get(day) !== usdPerCad)
  if (changed.length === 0) return 0
  for (const { day, usdPerCad } of changed) known.set(day, usdPerCad)
  const days = exchangeDays([...known].map(([day, usdPerCad]) => ({ day, usdPerCad })))
  await transaction.deleteFrom('exchange_days').where('tenant_id', '=', tenant).execute()
  await insertRows(transaction, tenant, 'exchange_days', [
    { name: 'day', type: 'date', values: days.map(({ day }) => day) },
    { name: 'usd_per_cad', type: 'float8', values: days.map(({ usdPerCad }) => usdPerCad) },
    { name: 'published', type: 'date', values: days.map(({ published }) => published) },
  ])
  await conversionsChanged(transaction, tenant)
  return changed.length
}

/** US dollars per Canadian dollar on a day (UTC); null if it is not known. */
export async function usdPerCadOn(
  transaction: TenantTransaction,
  tenant: TenantId,
  day: string,
): Promise<number | null> {
  const row = await transaction
    .selectFrom('exchange_days')
    .select('usd_per_cad')
    .where('tenant_id', '=', tenant)
    .where('day', '=', day)
    .executeTakeFirst()
  return row?.usd_per_cad ?? null
}

/** The fuel surcharges and exchange rate that convert amounts of a day; null if unknown. */
export interface ConversionsOfDay {
  /** The surcharge by the schedule of the brokerage. */
  readonly millsPerMile: number | null
  readonly usdPerCad: number | null
}

/** The conversions of every day with a known surcharge or exchange rate. */
export async function conversionsByDay(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<ReadonlyMap<string, ConversionsOfDay>> {
  const fuel = await transaction
    .selectFrom('fuel_days')
    .select(['day', 'mills_per_mile'])
    .where('tenant_id', '=', tenant)
    .where('customer_key', '=', '')
    .execute()
  const exchange = await transaction
    .selectFrom('exchange_days')
    .select(['day', 'usd_per_cad'])
    .where('tenant_id', '=', tenant)
    .execute()
  const days = new Map<string, ConversionsOfDay>(
    fuel.map(({ day, mills_per_mile: millsPerMile }) => [day, { millsPerMile, usdPerCad: null }]),
  )
  for (const { day, usd_per_cad: usdPerCad } of exchange) {
    days.set(day, { millsPerMile: days.get(day)?.millsPerMile ?? null, usdPerCad })
  }
  return days
}

/** All fuel schedules and exchange rates of a brokerage by day, or only those of some days and customers (by key). */
export async function conversionDays(
  transaction: TenantTransaction,
  tenant: TenantId,
  only?: { readonly days: readonly string[]; readonly customerKeys: readonly string[] },
): Promise<ConversionDays> {
  const onDays = only === undefined ? sql`` : sql`and day = any(${[...only.days]}::date[])`
  const ofCustomers =
    only === undefined ? sql`` : sql`and customer_key = any(${['', ...only.customerKeys]}::text[])`
  const ofDays = sql`array_agg(day - date '1970-01-01' order by day) as days`
  const { rows: fuel } = await sql<{ key: string; days: number[]; values: number[] }>`
    select customer_key as key, ${ofDays}, array_agg(mills_per_mile order by day) as values
    from fuel_days where tenant_id = ${tenant} ${onDays} ${ofCustomers} group by customer_key
  `.execute(transaction)
  const { rows: exchange } = await sql<{ days: number[] | null; values: number[] | null }>`
    select ${ofDays}, array_agg(usd_per_cad order by day) as values
    from exchange_days where tenant_id = ${tenant} ${onDays}
  `.execute(transaction)
  const byDay = (days: readonly number[] | null, values: readonly number[] | null) =>
    new Map((days ?? []).map((day, nth) => [day, values?.[nth] ?? 0]))
  return {
    fuel: new Map(fuel.map(({ key, days, values }) => [key, byDay(days, values)])),
    exchange: byDay(exchange[0]?.days ?? null, exchange[0]?.values ?? null),
  }
}
