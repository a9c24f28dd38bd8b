import { LocalClock } from '#engine/local-clock.ts'

/** The time zone in which pages show days, months and times: the brokerage's zone, or before sign-in the browser's zone. */

let shown = viewerZone()

/** The time zone of the browser. @example viewerZone() // 'America/Chicago' */
export function viewerZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Shows days and times in another time zone from now on. The shell sets it before a page is drawn. */
export function showTimeZone(zone: string): void {
  shown = zone
}

/** The time zone in which pages show days and times. @example shownZone() // 'America/Chicago' */
export function shownZone(): string {
  return shown
}

/**
 * A format of dates in the shown time zone. It is made again only when the zone changes, because making one is slow.
 *
 * @example const day = zonedFormat('en-US', { day: 'numeric' }); day().format(at)
 */
export function zonedFormat(locale: string, options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  let made: { readonly zone: string; readonly format: Intl.DateTimeFormat } | null = null
  return () => {
    if (made?.zone !== shown) {
      made = { zone: shown, format: new Intl.DateTimeFormat(locale, { ...options, timeZone: shown }) }
    }
    return made.format
  }
}

let clock: { readonly zone: string; readonly of: LocalClock } | null = null

/** The clock of the shown time zone. It is made again only when the zone changes. */
function shownClock(): LocalClock {
  if (clock?.zone !== shown) clock = { zone: shown, of: new LocalClock(shown) }
  return clock.of
}

/** The local date and time of a moment, as if they were UTC. @example wallTime(0) // -21_600_000 in Chicago */
export function wallTime(at: number): number {
  return shownClock().wallTime(at)
}

/** Year, month (0 to 11) and day at a moment. */
export function calendarAt(at: Date): readonly [year: number, month: number, day: number] {
  const wall = new Date(wallTime(at.getTime()))
  return [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()]
}

/**
 * The first moment of a day: midnight, or later where daylight-saving time begins at midnight. Month and day may overflow,
 * as in `Date`.
 *
 * @example startOfDay(2026, 2, 9).toISOString() // '2026-03-09T05:00:00.000Z' in Chicago
 */
export function startOfDay(year: number, month: number, day: number): Date {
  return new Date(shownClock().momentOf(Date.UTC(year, month, day)))
}
