import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextReportAt, reportWeek } from './report-week.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Zones with and without daylight saving, with half and quarter hours, and far from UTC on both sides. */
const zones = [
  'America/Chicago',
  'America/New_York',
  'America/Phoenix',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Australia/Adelaide',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Europe/London',
  'America/Santiago',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'UTC',
]

const shown = (timeZone: string, at: number) =>
  new Date(at).toLocaleString('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })

describe('a report is due', () => {
  test.each(zones)('each Monday at 07:00 on the clock of %s, once a week for years', (zone) => {
    const from = Date.UTC(2024, 0, 3, 1, 2, 3)
    const lengths = new Set<number>()
    let at = nextReportAt(zone, from)
    for (let week = 0; week < 160; week++) {
      expect(shown(zone, at)).toBe('Mon 07:00:00')
      const next = nextReportAt(zone, at)
      lengths.add((next - at) / hourMs)
      at = next
    }
    // The clock changes in some weeks, by an hour or by half of one, and never skips a week.
    expect([...lengths].every((hours) => hours >= 167 && hours <= 169)).toBe(true)
    expect(lengths.has(168)).toBe(true)
  })

  test('an hour earlier in UTC after the clock went forward, and an hour later after it went back', () => {
    const [spring, autumn] = [Date.UTC(2026, 2, 4), Date.UTC(2026, 9, 28)]
    expect(nextReportAt('America/Chicago', spring - 7 * dayMs)).toBe(Date.UTC(2026, 2, 2, 13))
    expect(nextReportAt('America/Chicago', spring)).toBe(Date.UTC(2026, 2, 9, 12))
    expect(nextReportAt('America/Chicago', autumn - 7 * dayMs)).toBe(Date.UTC(2026, 9, 26, 12))
    expect(nextReportAt('America/Chicago', autumn)).toBe(Date.UTC(2026, 10, 2, 13))
  })

  test('after a moment, not at it, and within a week and an hour', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) }),
        (zone, after) => {
          const at = nextReportAt(zone, after)
          expect(at).toBeGreaterThan(after)
          expect(at - after).toBeLessThanOrEqual(7 * dayMs + hourMs)
          expect(shown(zone, at)).toBe('Mon 07:00:00')
          expect(nextReportAt(zone, at - 1)).toBe(at)
        },
      ),
    )
  })
})

describe('the week of a report', () => {
  test.each(zones)('is from Monday to Sunday in %s, and adjoins the next one', (zone) => {
    let at = nextReportAt(zone, Date.UTC(2024, 0, 3))
    for (let week = 0; week < 120; week++) {
      const { from, to, firstDay, lastDay } = reportWeek(zone, at)
      expect(new Date(`${firstDay}T12:00:00Z`).getUTCDay()).toBe(1)
      expect(Date.parse(lastDay) - Date.parse(firstDay)).toBe(6 * dayMs)
      expect(to).toBeLessThan(at)
      expect(shown(zone, to - 1).slice(0, 3)).toBe('Sun')
      at = nextReportAt(zone, at)
      expect(reportWeek(zone, at).from).toBe(to)
      expect(from).toBeLessThan(to)
    }
  })

  test('is the same on each day of the week after it, and is compared with as long a time before it', () => {
    const week = reportWeek('America/Chicago', Date.UTC(2026, 2, 9, 12))
    expect(week).toEqual({
      from: Date.UTC(2026, 2, 2, 6),
      to: Date.UTC(2026, 2, 9, 5),
      // The clock went forward in this week.
      beforeFrom: Date.UTC(2026, 1, 23, 7),
      firstDay: '2026-03-02',
      lastDay: '2026-03-08',
    })
    expect(reportWeek('America/Chicago', Date.UTC(2026, 2, 16, 4))).toEqual(week)
    expect(reportWeek('America/Chicago', Date.UTC(2026, 2, 16, 5)).firstDay).toBe('2026-03-09')
  })
})
