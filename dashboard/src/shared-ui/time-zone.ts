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

const clock = zonedFormat('en-US', {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
})

/** The local date and time of a moment, as if they were UTC. @example wallTime(0) // -21_600_000 in Chicago */
export function wallTime(at: number): number {
  const part = Object.fromEntries(
    clock()
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  const ofSecond = Date.UTC(year, month - 1, day, hour, minute, second)
  return ofSecond + (((at % 1000) + 1000) % 1000)
}

/** Year, month (0 to 11) and day at a moment. */
export function calendarAt(at: Date): readonly [year: number, month: number, day: number] {
  const wall = new Date(wallTime(at.getTime()))
  return [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()]
}

const dayMs = 86_400_000

/**
 * The first moment of a day: midnight, or later where daylight-saving time begins at midnight. Month and day may overflow,
 * as in `Date`.
 *
 * @example startOfDay(2026, 2, 9).toISOString() // '2026-03-09T05:00:00.000Z' in Chicago
 */
export function startOfDay(year: number, month: number, day: number): Date {
  const midnight = Date.UTC(year, month, day)
  const offset = (at: number) => wallTime(at) - at
  // The offset of the day before or of the day after applies at midnight, unless the clock changes within a day twice.
  const moments = [midnight - offset(midnight - dayMs), midnight - offset(midnight + dayMs)]
  return new Date(Math.min(...moments.filter((at) => wallTime(at) >= midnight)))
}
