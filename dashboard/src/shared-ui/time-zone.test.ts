import { afterEach, expect, test } from 'vitest'
import { day, moment } from './formats.ts'
import { daysOf, periodOf } from './periods.ts'
import { calendarAt, showTimeZone, startOfDay, viewerZone } from './time-zone.ts'

afterEach(() => showTimeZone(viewerZone()))

const startIn = (zone: string, ...day: readonly [number, number, number]) => {
  showTimeZone(zone)
  return startOfDay(...day).toISOString()
}

test('a day begins at midnight, in winter and in daylight-saving time', () => {
  expect(startIn('America/Chicago', 2026, 2, 8)).toBe('2026-03-08T06:00:00.000Z')
  expect(startIn('America/Chicago', 2026, 2, 9)).toBe('2026-03-09T05:00:00.000Z')
  expect(startIn('America/Chicago', 2026, 10, 1)).toBe('2026-11-01T05:00:00.000Z')
  expect(startIn('America/Chicago', 2026, 10, 2)).toBe('2026-11-02T06:00:00.000Z')
  expect(startIn('Asia/Kolkata', 2026, 0, 1)).toBe('2025-12-31T18:30:00.000Z')
  expect(startIn('UTC', 2026, 0, 1)).toBe('2026-01-01T00:00:00.000Z')
})

test('a day without midnight begins when the clock skips it, and a day with two begins once', () => {
  // Egypt skips the hour from midnight to 1:00 on April 24, 2026; Cuba repeats the hour before 1:00 on November 1.
  expect(startIn('Africa/Cairo', 2026, 3, 24)).toBe('2026-04-23T22:00:00.000Z')
  expect(startIn('America/Havana', 2026, 2, 8)).toBe('2026-03-08T05:00:00.000Z')
  expect(startIn('America/Havana', 2026, 10, 1)).toBe('2026-11-01T04:00:00.000Z')
})

test('every day of a year begins when the day before ends, and lasts 23 to 25 hours', () => {
  for (const zone of [
    'America/Chicago',
    'America/St_Johns',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Africa/Cairo',
  ]) {
    showTimeZone(zone)
    for (let n = 0; n < 366; n++) {
      const [start, next] = [startOfDay(2026, 0, 1 + n), startOfDay(2026, 0, 2 + n)]
      const hours = (next.getTime() - start.getTime()) / 3_600_000
      expect([zone, n, hours >= 23 && hours <= 25]).toEqual([zone, n, true])
      expect(calendarAt(start)).not.toEqual(calendarAt(new Date(start.getTime() - 1)))
      expect(calendarAt(start)).toEqual(calendarAt(new Date(next.getTime() - 1)))
    }
  }
})

test('periods, days and times are those of the brokerage, not of the browser', () => {
  const now = new Date('2026-11-01T04:30:00Z')
  showTimeZone('America/Chicago')
  // In Chicago it is still October 31.
  expect(periodOf({ period: 'this-month' }, 'all', now)).toMatchObject({
    from: '2026-10-01T05:00:00.000Z',
    to: '2026-11-01T05:00:00.000Z',
  })
  expect(periodOf({ period: '2026-11' }, 'all', now)).toMatchObject({
    from: '2026-11-01T05:00:00.000Z',
    to: '2026-12-01T06:00:00.000Z',
  })
  expect(daysOf(periodOf({ period: '2026-11' }, 'all', now))).toEqual({
    from: '2026-11-01',
    to: '2026-11-30',
  })
  expect(day('2026-11-01T04:30:00Z')).toBe('Oct 31, 2026')
  expect(moment('2026-11-01T04:30:00Z')).toMatch(/^Oct 31, 2026, 11:30\sPM$/)
  showTimeZone('Asia/Tokyo')
  expect(periodOf({ period: 'this-month' }, 'all', now).from).toBe('2026-10-31T15:00:00.000Z')
  expect(day('2026-11-01T04:30:00Z')).toBe('Nov 1, 2026')
})
