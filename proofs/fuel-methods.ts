import { conversions, fuel } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'

/** The database functions of diesel prices and fuel surcharge schedules. */
export const fuelMethods: Readonly<Record<string, Method>> = {
  'fuel.listFuelPeriods': returnsCanary(({ transaction, tenant }) =>
    fuel.listFuelPeriods(transaction, tenant),
  ),
  'fuel.replaceFuelPeriods': changesRows(({ transaction, tenant }) =>
    fuel.replaceFuelPeriods(transaction, tenant, 'Walk', [
      {
        fromDay: '2026-01-01',
        untilDay: null,
        rule: { kind: 'miles_per_gallon', baseMills: 1200, milesPerGallon: 6 },
      },
    ]),
  ),
  'fuel.putDieselPrices': changesRows(({ transaction, tenant }) =>
    fuel.putDieselPrices(transaction, tenant, [{ week: '2020-03-02', mills: 4000 }]),
  ),
  'fuel.fuelOfDay': returnsResult(({ transaction, tenant }) =>
    fuel.fuelOfDay(transaction, tenant, null, '2020-03-02'),
  ),
  'conversions.conversionsChanged': changesRows(({ transaction, tenant }) =>
    conversions.conversionsChanged(transaction, tenant),
  ),
  'conversions.conversionsByDay': returnsResult(async ({ transaction, tenant }) => [
    ...(await conversions.conversionsByDay(transaction, tenant)),
  ]),
  'conversions.conversionDays': returnsResult(async ({ transaction, tenant }) => [
    ...(await conversions.conversionDays(transaction, tenant)).fuel,
  ]),
  'conversions.listExchangeRates': returnsResult(({ transaction, tenant }) =>
    conversions.listExchangeRates(transaction, tenant, 5),
  ),
  'conversions.putExchangeRates': changesRows(({ transaction, tenant }) =>
    conversions.putExchangeRates(transaction, tenant, [{ day: '2020-03-03', usdPerCad: 0.75 }]),
  ),
  'conversions.usdPerCadOn': returnsResult(({ transaction, tenant }) =>
    conversions.usdPerCadOn(transaction, tenant, '2020-03-02'),
  ),
  'fuel.newestDieselPrices': returnsResult(({ transaction, tenant }) =>
    fuel.newestDieselPrices(transaction, tenant, '2020-03-05', 8),
  ),
}
