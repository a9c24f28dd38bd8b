import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LocalClock } from './local-clock.ts'

const iso = (at: number) => new Date(at).toISOString()
const moment = (zone: string, wall: string) => iso(new LocalClock(zone).momentOf(Date.parse(`${wall}Z`)))

test('a local time is the moment at which the clock of the zone shows it', () => {
  expect(moment('America/Chicago', '2026-03-01T00:00')).toBe('2026-03-01T06:00:00.000Z')
  expect(moment('America/Chicago', '2026-07-01T20:30')).toBe('2026-07-02T01:30:00.000Z')
  expect(moment('UTC', '2026-07-01T20:30')).toBe('2026-07-01T20:30:00.000Z')
  expect(moment('America/St_Johns', '2026-01-01T00:00')).toBe('2026-01-01T03:30:00.000Z')
})

test('a skipped time is later by the hour that is skipped, a repeated one is the first', () => {
  expect(moment('America/Chicago', '2026-03-08T01:59')).toBe('2026-03-08T07:59:00.000Z')
  expect(moment('America/Chicago', '2026-03-08T02:30')).toBe('2026-03-08T08:30:00.000Z')
  expect(moment('America/Chicago', '2026-03-08T03:00')).toBe('2026-03-08T08:00:00.000Z')
  expect(moment('America/Chicago', '2026-11-01T00:30')).toBe('2026-11-01T05:30:00.000Z')
  expect(moment('America/Chicago', '2026-11-01T01:30')).toBe('2026-11-01T06:30:00.000Z')
  expect(moment('America/Chicago', '2026-11-01T02:00')).toBe('2026-11-01T08:00:00.000Z')
  // Samoa had no December 30 in 2011.
  expect(moment('Pacific/Apia', '2011-12-30T00:00')).toBe('2011-12-30T10:00:00.000Z')
})

test('in every zone, a moment is the moment of its local time, or an earlier one with the same local time', () => {
  const clocks = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone, new LocalClock(zone)]))
  fc.assert(
    fc.property(
      fc.constantFrom(...clocks.keys()),
      fc.integer({ min: Date.UTC(1995, 0, 1), max: Date.UTC(2045, 0, 1) }),
      (zone, at) => {
        const clock = clocks.get(zone) ?? new LocalClock(zone)
        const wall = clock.wallTime(at)
        const read = clock.momentOf(wall)
        expect([zone, clock.wallTime(read)]).toEqual([zone, wall])
        expect(read).toBeLessThanOrEqual(at)
        expect(at - read).toBeLessThanOrEqual(3 * 3_600_000)
      },
    ),
    { numRuns: 1_000 },
  )
})
