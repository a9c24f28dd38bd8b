import { describe, expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { addDay, emptyMarket, logReference, morningOf, movedLevel } from './reference-rate.ts'

const seen = (...rates: number[]) => rates.map((rate) => ({ lane: 'lane', logRate: Math.log(rate) }))

// Known values. Those of the first two days are also those of an independent prototype.
test('one lane over forty days has the known references, index and level', () => {
  const market = emptyMarket()
  const state = () => {
    const level = market.levels.get('lane')
    return [market.index.toFixed(9), level?.mean.toFixed(9), level?.weight.toFixed(9)]
  }
  expect(addDay(market, 0, seen(2000)).map((log) => Math.exp(log).toFixed(6))).toEqual(['2000.000000'])
  expect(state()).toEqual(['0.000000000', '7.600902460', '1.000000000'])
  expect(addDay(market, 10, seen(2100, 2050)).map((log) => Math.exp(log).toFixed(6))).toEqual([
    '2000.000000',
    '2000.000000',
  ])
  expect(state()).toEqual(['0.000365583', '7.626511141', '2.840896415'])
  expect(addDay(market, 40, seen(2200)).map((log) => Math.exp(log).toFixed(6))).toEqual(['2052.375653'])
  expect(state()).toEqual(['0.000712013', '7.652165351', '2.689207115'])
})

test('the reference of a lane never quoted is the brokerage average, and null for a brokerage without quotes', () => {
  const market = emptyMarket()
  expect(logReference(market, 'other')).toBeNull()
  addDay(market, 0, seen(2000, 2200))
  expect(Math.exp(logReference(market, 'other') ?? 0)).toBeCloseTo(Math.sqrt(2000 * 2200), 6)
})

test('the reference of a lane first quoted today is its own rate, however different the other lanes are', () => {
  const market = emptyMarket()
  addDay(market, 0, seen(2000))
  const [reference = 0] = addDay(market, 1, [{ lane: 'far', logRate: Math.log(300) }])
  expect(Math.exp(reference)).toBeCloseTo(300, 6)
})

test('the quotes of a day move the level of their lane together, in whatever order', () => {
  const level = { weight: 6, mean: 7.6, day: 0, quotes: 6 }
  const day = [7.9, 7.2, 7.61, 7.65].map((value) => ({ value, weight: 1, spread: 0.1 }))
  const forward = movedLevel({ ...level }, day, 1)
  expect(movedLevel({ ...level }, day.toReversed(), 1).mean).toBeCloseTo(forward.mean, 12)
  // One by one, the first quote would move the level by more than its share.
  expect(Math.abs(forward.mean - 7.6)).toBeLessThan(2 * 0.07 * 0.1)
})

test('the level of a lane with a fixed price follows when the price changes', () => {
  let level = movedLevel(undefined, [{ value: 7.6, weight: 1, spread: 0.02 }], 0)
  for (let day = 1; day < 60; day++)
    level = movedLevel(level, [{ value: day < 20 ? 7.6 : 7.68, weight: 1, spread: 0.02 }], day)
  expect(level.mean).toBeGreaterThan(7.65)
})

test.each([0.1, 0.5, 2, 10])(
  '500 quotes of one lane on one day, at %f times its rate, hardly move other lanes',
  (times) => {
    const random = seededNumbers(9)
    const market = emptyMarket()
    const around = (level: number) => level + 0.2 * (random() - 0.5)
    const day = () => Array.from({ length: 20 }, (_, lane) => ({ lane, logRate: around(7.6 + lane / 20) }))
    for (let at = 0; at < 100; at++) addDay(market, at, day())
    const before = logReference(market, 7) ?? Number.NaN
    const wrong = Array.from({ length: 500 }, () => ({ lane: 0, logRate: 7.6 + Math.log(times) }))
    addDay(market, 100, wrong)
    expect(Math.abs((logReference(market, 7) ?? Number.NaN) - before)).toBeLessThan(0.025)
    // Among the quotes of other lanes, they count even less.
    addDay(market, 101, [...wrong, ...day()])
    expect(Math.abs((logReference(market, 7) ?? Number.NaN) - before)).toBeLessThan(0.06)
  },
)

test('ten quotes of a lane on a day count in full, however many there are of others', () => {
  const ten = Array.from({ length: 10 }, () => ({ lane: 'lane', logRate: 7.7 }))
  const others = Array.from({ length: 10 }, () => ({ lane: 'other', logRate: 7.7 }))
  const market = emptyMarket()
  addDay(market, 0, [{ lane: 'lane', logRate: 7.6 }])
  addDay(market, 0, [{ lane: 'other', logRate: 7.6 }])
  addDay(market, 1, [...ten, ...others])
  expect(market.index).toBeCloseTo((1 - Math.exp(-0.005 * 20)) * 0.1, 12)
})

describe('the weight of the brokerage average', () => {
  /** 400 quotes on 60 lanes with the given differences between lanes and between quotes of a lane. */
  function marketOf(lanes: number, quotes: number) {
    const random = seededNumbers(3)
    const market = emptyMarket()
    const levels = Array.from({ length: 60 }, () => 7.6 + lanes * 3.5 * (random() - 0.5))
    for (let day = 0; day < 100; day++)
      addDay(
        market,
        day,
        [0, 1, 2, 3].map(() => {
          const lane = Math.floor(60 * random())
          return { lane, logRate: (levels[lane] ?? 0) + quotes * 3.5 * (random() - 0.5) }
        }),
      )
    return morningOf(market)
  }

  test('is the usual one if lanes differ more than the quotes of a lane', () => {
    const morning = marketOf(0.2, 0.08)
    expect(morning?.tenantWeight).toBe(morning?.usualWeight)
    expect(morning?.firstDayWeight).toBe(0)
  })

  test('is large if the quotes of a lane differ and the lanes do not, as in sealed tenders', () => {
    const morning = marketOf(0, 0.3)
    expect(morning?.tenantWeight).toBeGreaterThanOrEqual(10)
    expect(morning?.likeness).toBeGreaterThan(0.9)
  })

  test('moves by a few percent at most with one more quote', () => {
    const market = emptyMarket()
    const random = seededNumbers(5)
    let before = Number.NaN
    for (let day = 0; day < 400; day++) {
      addDay(market, day, [{ lane: day % 8, logRate: 7.6 + 0.5 * (random() - 0.5) }])
      const { tenantWeight = Number.NaN, usualWeight = Number.NaN } = morningOf(market) ?? {}
      const raised = tenantWeight / usualWeight
      if (day > 0) expect(Math.abs(Math.log(raised / before))).toBeLessThan(0.1)
      before = raised
    }
    expect(before).toBeGreaterThan(5)
  })
})
