import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dieselPriceOn,
  type FuelPeriod,
  formatMills,
  fuelMistakes,
  fuelPeriodOn,
  fuelSurchargeCents,
  surchargePerMile,
} from './fuel-surcharge.ts'

const rule = { kind: 'miles_per_gallon', baseMills: 1200, milesPerGallon: 6 } as const
const period = (fromDay: string, untilDay: string | null): FuelPeriod => ({ fromDay, untilDay, rule })
const details = (periods: readonly FuelPeriod[]) => fuelMistakes(periods).map(({ detail }) => detail)
const steps = (...pairs: [number, number][]) => ({
  kind: 'steps' as const,
  steps: pairs.map(([fromMills, perMileMills]) => ({ fromMills, perMileMills })),
})

describe('a schedule', () => {
  test('is valid if its periods follow each other, in any order', () => {
    const periods = [
      period('2026-03-01', null),
      period('2026-01-01', '2026-01-31'),
      period('2026-02-01', '2026-02-28'),
    ]
    expect(details(periods)).toEqual([])
    expect(details([])).toEqual([])
  })

  test('with a gap or an overlap is refused with the dates', () => {
    expect(details([period('2026-01-01', '2026-01-31'), period('2026-03-01', null)])).toEqual([
      'from: No period covers 2026-02-01 to 2026-02-28. It must be 2026-02-01, or the period before must end on 2026-02-28.',
    ])
    expect(details([period('2026-01-01', '2026-02-01'), period('2026-02-01', null)])).toEqual([
      'from: The period from 2026-02-01 overlaps the period from 2026-01-01 to 2026-02-01. The earlier period must end before 2026-02-01.',
    ])
    expect(details([period('2026-01-01', null), period('2026-02-01', null)])[0]).toContain('without an end')
    expect(details([period('2026-02-01', '2026-01-01')])).toEqual([
      'until: 2026-01-01 is before from, which is 2026-02-01. It must be 2026-02-01 or later, or absent.',
    ])
  })

  test('with steps that fall or repeat is refused', () => {
    const of = (...pairs: [number, number][]) =>
      details([{ fromDay: '2026-01-01', untilDay: null, rule: steps(...pairs) }])
    expect(of([3000, 300], [3500, 350])).toEqual([])
    expect(of([3000, 300], [3000, 350])[0]).toContain('Prices of steps must increase')
    expect(of([3000, 300], [3500, 250])[0]).toContain('must not fall when diesel rises')
  })

  test('without mistakes has one period for each day from its first to its last', () => {
    const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, 10)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { minLength: 1, maxLength: 4 }),
        fc.nat(120),
        (pairs, asked) => {
          const periods = pairs.map(([from, length]) => period(day(from), day(from + length)))
          const first = Math.min(...pairs.map(([from]) => from))
          const last = Math.max(...pairs.map(([from, length]) => from + length))
          const covering = periods.filter(
            ({ fromDay, untilDay }) => fromDay <= day(asked) && day(asked) <= (untilDay ?? ''),
          )
          if (details(periods).length > 0) return
          expect(covering).toHaveLength(asked >= first && asked <= last ? 1 : 0)
          expect(fuelPeriodOn(periods, day(asked))).toEqual(covering[0] ?? null)
        },
      ),
    )
  })
})

test('the surcharge is the fuel above the base price, and 0 below it', () => {
  // (3.600 - 1.200) / 6 = 0.40 dollars per mile
  expect(surchargePerMile(rule, 3600)).toBe(400)
  expect(surchargePerMile(rule, 1100)).toBe(0)
  expect(fuelSurchargeCents(rule, 3600, 780)).toBe(31_200)
  // 0.401666... dollars per mile: rounded once, for the load
  expect(fuelSurchargeCents(rule, 3610, 1000)).toBe(40_167)
})

test('the surcharge of a step table is that of the last step whose price is reached', () => {
  const table = steps([3000, 300], [3500, 350])
  expect([2999, 3000, 3499, 3500, 9000].map((mills) => surchargePerMile(table, mills))).toEqual([
    0, 300, 300, 350, 350,
  ])
})

test('the price of a day is the newest one published, for at most 14 days', () => {
  const prices = [
    { week: '2026-03-09', mills: 3900 },
    { week: '2026-03-02', mills: 3879 },
  ]
  expect(dieselPriceOn(prices, '2026-03-01')).toBeNull()
  expect(dieselPriceOn(prices, '2026-03-08')).toEqual(prices[1])
  expect(dieselPriceOn(prices, '2026-03-23')).toEqual(prices[0])
  expect(dieselPriceOn(prices, '2026-03-24')).toBeNull()
  expect(formatMills(3079)).toBe('$3.079')
})
