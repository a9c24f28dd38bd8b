import {
  DIESEL_PRICE_DAYS_MAX,
  type DieselPrice,
  type FuelPeriod,
  fuelPeriodOn,
  surchargePerMile,
} from './fuel-surcharge.ts'

/** The surcharge of a schedule on a day: `YYYY-MM-DD`, and mills per mile, not rounded. */
export interface FuelDay {
  readonly day: string
  readonly millsPerMile: number
}

const dayMilliseconds = 86_400_000
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * The surcharges of a schedule on every day whose diesel price is known, oldest first. A day that no period covers is absent.
 *
 * @param since only days from this one
 * @example fuelDays(periods, [{ week: '2026-03-02', mills: 3879 }], '2026-03-15') // 15 and 16 March
 */
export function fuelDays(
  periods: readonly FuelPeriod[],
  prices: readonly DieselPrice[],
  since: string,
): FuelDay[] {
  const inOrder = prices.toSorted((one, other) => (one.week < other.week ? -1 : 1))
  return inOrder.flatMap(({ week, mills }, index) => {
    const first = Math.max(Date.parse(week), Date.parse(since))
    const last = Date.parse(week) + DIESEL_PRICE_DAYS_MAX * dayMilliseconds
    const next = Date.parse(inOrder[index + 1]?.week ?? '9999-12-31')
    const days: FuelDay[] = []
    for (let at = first; at <= last && at < next; at += dayMilliseconds) {
      const day = dayOf(at)
      const period = fuelPeriodOn(periods, day)
      if (period !== null) days.push({ day, millsPerMile: surchargePerMile(period.rule, mills) })
    }
    return days
  })
}
