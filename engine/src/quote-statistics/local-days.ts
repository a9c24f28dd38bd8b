import { LocalClock } from '../local-clock.ts'

const dayMs = 86_400_000

/**
 * The beginning of a day in a time zone, in epoch milliseconds: the day of `at`, or the day that is `daysBefore` days earlier.
 *
 * @param timeZone an IANA name
 * @example localDay('America/Chicago', Date.UTC(2026, 2, 10, 12), 1) // Date.UTC(2026, 2, 9, 5)
 */
export function localDay(timeZone: string, at: number, daysBefore: number): number {
  const clock = new LocalClock(timeZone)
  return clock.momentOf((Math.floor(clock.wallTime(at) / dayMs) - daysBefore) * dayMs)
}
