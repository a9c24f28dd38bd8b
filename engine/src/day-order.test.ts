import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inDayOrder } from './day-order.ts'

const quote = (name: string, marginCents: number | null, hoursLeft: number | null, rateCents = 200_000) => ({
  name,
  rateCents,
  marginCents,
  hoursLeft,
})
const namesOf = (...quotes: ReturnType<typeof quote>[]) => inDayOrder(quotes).map(({ name }) => name)

test('dollars at stake and time left decide together', () => {
  expect(
    namesOf(
      quote('much, next week', 60_000, 168),
      quote('little, within the hour', 5_000, 0.5),
      quote('some, tomorrow', 30_000, 24),
      quote('much, without an end', 60_000, null),
    ),
  ).toEqual(['little, within the hour', 'some, tomorrow', 'much, next week', 'much, without an end'])
})

test('a quote without an expected cost counts with the share of the others', () => {
  // The others have 10 %: 200 dollars of 2,000.
  expect(
    namesOf(quote('300', 30_000, 10, 300_000), quote('unknown', null, 10), quote('100', 10_000, 10, 100_000)),
  ).toEqual(['300', 'unknown', '100'])
  expect(namesOf(quote('small', null, 10, 100_000), quote('large', null, 10, 300_000))).toEqual([
    'large',
    'small',
  ])
})

test('a quote at a loss is last, however soon it ends', () => {
  expect(namesOf(quote('loss', -50_000, 1), quote('gain', 100, 700))).toEqual(['gain', 'loss'])
})

test('more margin or less time never moves a quote down', () => {
  const number = (max: number) => fc.integer({ min: 1, max })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(number(100_000), number(700)), { minLength: 1, maxLength: 20 }),
      number(100_000),
      number(700),
      (others, margin, hours) => {
        const rest = others.map(([cents, left], index) => quote(`other ${index}`, cents, left))
        const place = (cents: number, left: number) =>
          namesOf(...rest, quote('it', cents, left)).indexOf('it')
        expect(place(margin + 5_000, hours)).toBeLessThanOrEqual(place(margin, hours))
        expect(place(margin, Math.max(1, hours - 5))).toBeLessThanOrEqual(place(margin, hours))
      },
    ),
  )
})
