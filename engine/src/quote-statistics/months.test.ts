import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LocalMonths } from './months.ts'

const zones = [
  'UTC',
  'America/Chicago',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Australia/Lord_Howe',
  'America/St_Johns',
]

test('a time is in the month that a calendar of the time zone shows', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.array(fc.integer({ min: Date.UTC(1995, 0, 1), max: Date.UTC(2045, 0, 1) }), {
        minLength: 1,
        maxLength: 20,
      }),
      (timeZone, times) => {
        const months = new LocalMonths(timeZone)
        const form = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' })
        for (const at of times) {
          const found = months.of(at)
          const name = (of: number) => form.format(of)
          expect(`${found.year}-${String(found.month).padStart(2, '0')}`).toBe(name(at))
          expect([name(found.from), name(found.to - 1)]).toEqual([name(at), name(at)])
          expect([name(found.from - 1) === name(at), name(found.to) === name(at)]).toEqual([false, false])
          expect(months.months[found.number]).toBe(found)
        }
      },
    ),
  )
})
