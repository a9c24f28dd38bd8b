import { firstIn } from './months.ts'

const dayMs = 86_400_000
/** More than the largest distance between the same day in two time zones. */
const ZONES_MS_MAX = 36 * 3_600_000

/**
 * The beginning of a day in a time zone, in epoch milliseconds: the day of `at`, or the day that is `daysBefore` days earlier.
 *
 * @param timeZone an IANA name
 * @example localDay('America/Chicago', Date.UTC(2026, 2, 10, 12), 1) // Date.UTC(2026, 2, 9, 5)
 */
export function localDay(timeZone: string, at: number, daysBefore: number): number {
  const form = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  const dayOf = (moment: number) => {
    const parts = form.formatToParts(moment)
    const of = (type: 'year' | 'month' | 'day') => Number(parts.find((part) => part.type === type)?.value)
    return Date.UTC(of('year'), of('month') - 1, of('day'))
  }
  const wanted = dayOf(at) - daysBefore * dayMs
  return firstIn(
    { no: wanted - ZONES_MS_MAX, yes: wanted + ZONES_MS_MAX },
    (moment) => dayOf(moment) >= wanted,
  )
}
