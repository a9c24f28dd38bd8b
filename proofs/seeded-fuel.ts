import type { Label, TenantIds } from './seeded-ids.ts'

/** Returns rows for diesel prices and a fuel surcharge schedule. */
export function fuelRowsOf(label: Label) {
  return {
    // No request of `route-requests.ts` reads this price and this period, because their numbers differ between brokerages.
    diesel_prices: [{ week: '2020-03-02', mills: label === 'A' ? 7_151 : 7_252 }],
    exchange_days: [
      { day: '2020-03-02', published: '2020-03-02', usd_per_cad: label === 'A' ? 0.7151 : 0.7252 },
    ],
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

/** The date of the seeded market rate. */
export const marketRateDay = new Date('2025-12-01T00:00:00Z')

/** The source of the seeded market rate. It is an id and no canary, because the error about an unknown source repeats it. */
export const marketSourceOf = ({ import: id }: Pick<TenantIds, 'import'>) => `Source ${id}`

/** Returns a row for a market rate from a source of the brokerage's own. */
export function marketRateRowsOf(ids: Pick<TenantIds, 'import'>, cents: number, saidAt: Date) {
  return {
    market_rates: [
      {
        scope: 'lane',
        source: marketSourceOf(ids),
        basis: 'all_in',
        kind: 'buy',
        currency: 'USD',
        as_of: marketRateDay,
        low_cents: null,
        high_cents: null,
        mid_cents: cents,
        said_at: saidAt,
        entered_by: 'push',
      },
    ],
  }
}
