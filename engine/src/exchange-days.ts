/** An exchange rate as it was entered: US dollars per Canadian dollar, for a day and the days after it. */
export interface ExchangeRate {
  readonly day: string
  readonly usdPerCad: number
}

/** An exchange rate applies until the next one, but for at most this many days, so that monthly tables have no gap. */
export const EXCHANGE_RATE_DAYS_MAX = 31

/** The exchange rates of the last fifty years are from 0.61 to 1.09. One outside is in another unit, such as Canadian per US dollar. */
export const USD_PER_CAD = { least: 0.5, most: 1.1 } as const

const dayMilliseconds = 86_400_000

/**
 * The exchange rate of each day: the newest entered one, for at most `EXCHANGE_RATE_DAYS_MAX` days.
 *
 * @example exchangeDays([{ day: '2026-03-02', usdPerCad: 0.73 }]).length // 32
 */
export function exchangeDays(
  rates: readonly ExchangeRate[],
): readonly { readonly day: string; readonly usdPerCad: number; readonly published: string }[] {
  const inOrder = rates.toSorted((one, other) => (one.day < other.day ? -1 : 1))
  return inOrder.flatMap(({ day: published, usdPerCad }, index) => {
    const first = Date.parse(published)
    const next = Date.parse(inOrder[index + 1]?.day ?? '9999-12-31')
    const count = Math.min(EXCHANGE_RATE_DAYS_MAX + 1, (next - first) / dayMilliseconds)
    return Array.from({ length: count }, (_, nth) => ({
      day: new Date(first + nth * dayMilliseconds).toISOString().slice(0, 10),
      usdPerCad,
      published,
    }))
  })
}

/** An amount of Canadian dollars in US dollars, in whole cents. */
export function usdCents(cadCents: number, usdPerCad: number): number {
  return Math.floor(cadCents * usdPerCad + 0.5)
}
