import { describe, expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { findMove, WATCH_BEFORE_MIN, WATCH_EVIDENCE, type WatchedValue } from './lane-watch.ts'

const historyDays = 60

/** Quotes of a lane: so many on average a day, with noise of this deviation around a level. */
function quotes(
  random: () => number,
  {
    perDay = 2,
    noise = 0.08,
    days,
    level = () => 0,
    outliers = 0,
    group = () => 'lane',
  }: {
    readonly perDay?: number
    readonly noise?: number
    readonly days: number
    readonly level?: (day: number) => number
    readonly outliers?: number
    readonly group?: (nth: number) => string
  },
): WatchedValue[] {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const values: WatchedValue[] = []
  for (let day = -historyDays; day < days; day++) {
    for (let left = Math.exp(-perDay), product = random(); product > left; product *= random()) {
      const size = noise * (random() < outliers ? 8 : 1)
      const name = group(values.length)
      const base = name === 'other lane' ? 9 : 7.6
      values.push({ day, group: name, value: base + level(day) + size * normal(), chance: random() })
    }
  }
  return values
}

/** The first day after which a move is found by somebody who looks each day; null if none is. */
function firstFound(values: readonly WatchedValue[], days: number): number | null {
  for (let day = 0; day < days; day++) {
    if (
      findMove(
        'rate',
        values.filter((one) => one.day <= day),
        { from: 0 },
      ) !== null
    )
      return day
  }
  return null
}

const middle = (found: readonly (number | null)[]) =>
  found.map((day) => day ?? Number.POSITIVE_INFINITY).toSorted((one, other) => one - other)[
    Math.floor(found.length / 2)
  ]

describe('a planted move of 8 %', () => {
  const at = 8
  test.each([
    ['up', 0.08],
    ['down', -0.08],
  ])('%s is found within ten days at the median with two quotes a day and noise of 8 %%', (_name, move) => {
    const random = seededNumbers(3)
    const delays = Array.from({ length: 15 }, () => {
      const values = quotes(random, { days: 40, level: (day) => (day >= at ? Math.log1p(move) : 0) })
      const found = firstFound(values, 40)
      return found === null ? null : found - at + 1
    })
    expect(middle(delays)).toBeLessThanOrEqual(10)
  })

  test('is told with its size, its beginning and its values', () => {
    const values = quotes(seededNumbers(5), {
      days: 40,
      noise: 0.03,
      level: (day) => (day >= at ? Math.log(1.08) : 0),
    })
    const move = findMove('rate', values, { from: 0 })
    expect(Math.abs((move?.since ?? 0) - at)).toBeLessThanOrEqual(2)
    expect((move?.after ?? 0) - (move?.before ?? 0)).toBeCloseTo(Math.log(1.08), 1)
    expect((move?.valuesBefore ?? 0) + (move?.valuesAfter ?? 0)).toBe(values.length)
    expect(move?.evidence).toBeGreaterThanOrEqual(WATCH_EVIDENCE)
  })
})

describe('no move is found', () => {
  test('on flat lanes, with or without outliers, more often than once a lane and year for three metrics', () => {
    const random = seededNumbers(11)
    const days = 60
    const lanes = 12
    let alerts = 0
    for (let lane = 0; lane < lanes; lane++) {
      const values = quotes(random, { days, outliers: lane % 2 === 0 ? 0.05 : 0 })
      if (firstFound(values, days) !== null) alerts++
    }
    // Of one metric: a third of one alert a year. 12 lanes in 60 days are 2 lane years: 0.7 alerts at most on average.
    expect(alerts).toBeLessThanOrEqual(3)
  })

  test('because of one wrong rate, or because a customer has other lanes', () => {
    const values = quotes(seededNumbers(2), { days: 10 })
    const wrong: WatchedValue = { day: 9, group: 'lane', value: 12, chance: 0.5 }
    expect(findMove('rate', [...values, wrong], { from: 0 })).toBeNull()
    const other = quotes(seededNumbers(4), { days: 30, group: (nth) => (nth > 130 ? 'other lane' : 'lane') })
    expect(findMove('rate', other, { from: 0 })).toBeNull()
  })

  test('with too few values before, and in what was before the watch began', () => {
    const random = seededNumbers(9)
    const moved = quotes(random, { days: 20, noise: 0.01, level: (day) => (day >= -20 ? 0.2 : 0) })
    expect(findMove('rate', moved.slice(0, WATCH_BEFORE_MIN), { from: -60 })).toBeNull()
    expect(findMove('rate', moved, { from: 20 })).toBeNull()
    expect(findMove('rate', [], { from: 0 })).toBeNull()
  })
})

test('a win rate that falls from 40 % to 10 % is found, and its values are shares', () => {
  const random = seededNumbers(6)
  const values = Array.from({ length: 200 }, (_, nth) => ({
    day: nth - 120,
    group: 'lane',
    value: random() < (nth < 130 ? 0.4 : 0.1) ? 1 : 0,
    chance: random(),
  }))
  const move = findMove('win_rate', values, { from: 0 })
  expect(move?.before).toBeCloseTo(0.4, 1)
  expect(move?.after).toBeLessThan(0.2)
})

test('equal values are no move: a rate that never changes gives no evidence', () => {
  const values = Array.from({ length: 200 }, (_, nth) => ({
    day: nth - 100,
    group: 'lane',
    value: 7.6,
    chance: ((nth * 61) % 200) / 200,
  }))
  expect(findMove('cost', values, { from: 0 })).toBeNull()
})
