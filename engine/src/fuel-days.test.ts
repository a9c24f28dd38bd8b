import { describe, expect, test } from 'vitest'
import { fuelDays } from './fuel-days.ts'
import { dieselPriceOn, fuelPeriodOn, fuelSurchargeCents, surchargePerMile } from './fuel-surcharge.ts'

const rule = { kind: 'miles_per_gallon', baseMills: 1200, milesPerGallon: 6 } as const
const open = [{ fromDay: '2026-01-01', untilDay: null, rule }]
const prices = [
  { week: '2026-03-09', mills: 4200 },
  { week: '2026-03-02', mills: 3600 },
]

describe('the surcharges by day', () => {
  test('are those of the newest price, until the next one or for 14 days', () => {
    const days = fuelDays(open, prices, '2026-03-05')
    expect(days.map(({ day }) => day)).toEqual([
      ...['05', '06', '07', '08'].map((day) => `2026-03-${day}`),
      ...Array.from({ length: 15 }, (_, nth) => `2026-03-${String(9 + nth).padStart(2, '0')}`),
    ])
    expect(new Set(days.map(({ millsPerMile }) => millsPerMile))).toEqual(new Set([400, 500]))
  })

  test('have a gap where no price and no period covers a day', () => {
    const until = [{ fromDay: '2026-03-04', untilDay: '2026-03-10', rule }]
    const days = fuelDays(until, [...prices, { week: '2026-05-04', mills: 4000 }], '0001-01-01')
    expect([days.at(0)?.day, days.at(-1)?.day, days.length]).toEqual(['2026-03-04', '2026-03-10', 7])
  })

  test('agree with the price and the period of each day', () => {
    const steps = { kind: 'steps', steps: [{ fromMills: 4000, perMileMills: 350 }] } as const
    const periods = [
      { fromDay: '2026-01-01', untilDay: '2026-03-10', rule },
      { fromDay: '2026-03-11', untilDay: null, rule: steps },
    ]
    for (const { day, millsPerMile } of fuelDays(periods, prices, '0001-01-01')) {
      const price = dieselPriceOn(prices, day)
      const period = fuelPeriodOn(periods, day)
      expect(millsPerMile).toBe(surchargePerMile(period?.rule ?? steps, price?.mills ?? 0))
    }
    expect(fuelSurchargeCents(rule, 3600, 780)).toBe(31200)
  })
})
