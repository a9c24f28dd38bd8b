import { localDay } from './quote-statistics/local-days.ts'
import { firstIn } from './quote-statistics/months.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The report is due at this hour of a Monday. */
const REPORT_HOUR = 7
/** The largest distance of a time zone from UTC, and more. */
const ZONE_MS_MAX = 36 * hourMs

/** A week of a report, from Monday to Sunday, in epoch milliseconds. */
export interface ReportWeek {
  readonly from: number
  readonly to: number
  /** The beginning of the week that it is compared with, which ends at `from`. It is as long, as on the page Results. */
  readonly beforeFrom: number
  /** Its days, such as 2026-03-02. */
  readonly firstDay: string
  readonly lastDay: string
}

/** What the clock and the calendar of a time zone show at a moment, as if they were UTC. */
function wallClock(timeZone: string): (moment: number) => number {
  const form = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  })
  return (moment) => {
    const parts = form.formatToParts(moment)
    const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  }
}

/** The days since the last Monday: 0 on a Monday. */
const daysSinceMonday = (wall: number) => (new Date(wall).getUTCDay() + 6) % 7

/**
 * When the next weekly report is due: the first Monday at 07:00 after a moment, on the clock of the time zone, so one hour earlier or later
 * in UTC where the clock changes.
 *
 * @param timeZone an IANA name
 * @example nextReportAt('America/Chicago', Date.UTC(2026, 2, 4)) // Date.UTC(2026, 2, 9, 12)
 */
export function nextReportAt(timeZone: string, after: number): number {
  const wallOf = wallClock(timeZone)
  const wall = wallOf(after)
  const midnight = wall - (wall % dayMs)
  const monday = midnight - daysSinceMonday(wall) * dayMs + REPORT_HOUR * hourMs
  const wanted = wall < monday ? monday : monday + 7 * dayMs
  return firstIn(
    { no: wanted - ZONE_MS_MAX, yes: wanted + ZONE_MS_MAX },
    (moment) => wallOf(moment) >= wanted,
  )
}

/**
 * The last whole week before a moment, and the week before that.
 *
 * @param timeZone an IANA name
 * @example reportWeek('America/Chicago', Date.UTC(2026, 2, 11)).firstDay // '2026-03-02'
 */
export function reportWeek(timeZone: string, at: number): ReportWeek {
  const sinceMonday = daysSinceMonday(wallClock(timeZone)(at))
  const from = localDay(timeZone, at, sinceMonday + 7)
  const to = localDay(timeZone, at, sinceMonday)
  const dayOf = (moment: number) => new Date(wallClock(timeZone)(moment)).toISOString().slice(0, 10)
  return { from, to, beforeFrom: from - (to - from), firstDay: dayOf(from), lastDay: dayOf(to - 1) }
}
