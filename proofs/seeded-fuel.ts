import type { Label } from './seeded-ids.ts'

/** Diesel prices and a fuel surcharge schedule. */
export function fuelRowsOf(label: Label) {
  return {
    // A price and a period that no operation of the walk reads: their numbers are those of a brokerage.
    diesel_prices: [{ week: '2020-03-02', mills: label === 'A' ? 7_151 : 7_252 }],
    fuel_days: [{ day: '2020-03-02', mills_per_mile: label === 'A' ? 7_151 : 7_252 }],
    fuel_periods: [
      {
        from_day: '2020-01-01',
        until_day: '2020-12-31',
        rule: JSON.stringify({
          kind: 'steps',
          steps: [{ fromMills: 3_000, perMileMills: label === 'A' ? 7_151 : 7_252 }],
        }),
      },
    ],
  }
}
