import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/fuel.ts'
import { customerKey } from '#engine/customer-name.ts'
import { dieselPriceOn, fuelPeriodOn, fuelSurchargeCents, surchargePerMile } from '#engine/fuel-surcharge.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { fuel } from '../../database/queries/index.ts'
import type { ReadCall } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { dollarsOf, weekAnswer } from './fuel-schedule.ts'

const nothingFound = { found: false, surcharge: null, per_mile: null, diesel: null, schedule: null } as const

/** The fuel surcharge of a load on a day: by its customer's schedule, else by the brokerage's. */
export async function findFuelSurcharge(
  { caller: { tenant }, query }: ReadCall<typeof contract.getFuelSurcharge>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.getFuelSurcharge>> {
  const { periods, prices } = await database.inTenant(tenant, async (transaction) => ({
    periods: await fuel.listFuelPeriods(transaction, tenant),
    prices: await fuel.newestDieselPrices(transaction, tenant, query.day, 1),
  }))
  const of = (name: string) =>
    fuelPeriodOn(
      periods.filter(({ customerName }) => customerKey(customerName) === name),
      query.day,
    )
  const own = query.customer_name === undefined ? null : of(customerKey(query.customer_name))
  const period = own ?? of('')
  if (period === null) return { ...nothingFound, missing: 'schedule' }
  const diesel = dieselPriceOn(prices, query.day)
  if (diesel === null) return { ...nothingFound, missing: 'diesel_price' }
  return {
    found: true,
    surcharge: dollarsFromCents(fuelSurchargeCents(period.rule, diesel.mills, query.miles)),
    per_mile: dollarsOf(surchargePerMile(period.rule, diesel.mills)),
    diesel: weekAnswer(diesel),
    schedule: own === null ? 'brokerage' : 'customer',
    missing: null,
  }
}
