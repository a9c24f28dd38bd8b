import { expect, it } from 'vitest'
import { withUnits } from './header-rows.ts'
import { isValue } from './value-cells.ts'

const split = (words: string) => words.split(', ')

it.each(split('$, US$, us $, USD, US dollars, USD$, mi, miles, lb, lbs, pounds, yyyy-mm-dd'))(
  'the unit %s says no more than a name',
  (unit) => {
    expect(withUnits(['Rate'], [`(${unit})`])).toEqual(['Rate'])
  },
)

it.each(
  split(
    'C$, CA$, c $, MX$, CAD, cad, CDN, MXN, EUR, GBP, JPY, Canadian dollars, euro, euros, pesos, cents, ¢, €, £, ₹, km, kilometers, kg, kilos, tons, short tons, t, %, percent, cwt, $/mi, US$ per mile, usd/mi, CAD/km, /load, $/cwt, days, hrs, minutes, ft, inches, mm/dd/yyyy, d.m.yy',
  ),
)('the unit %s belongs to a name', (unit) => {
  expect(withUnits(['Rate'], [`(${unit})`])).toEqual([`Rate (${unit})`])
})

it.each(split('Dallas, Won, Try, A, Truck, 900, CAD 900, USD and CAD quotes, mi lb'))(
  'the cell %s is no unit',
  (cell) => {
    expect(withUnits(['Rate', 'Miles'], ['', cell])).toBeNull()
  },
)

it.each([
  '1850',
  '1,850.50',
  '$1850',
  '$ 1,850',
  'US$1,850',
  'C$1,850',
  'CA$ 1850',
  '1850 CAD',
  'CAD 1850',
  '1850 CDN',
  'MXN 36,000',
  '€1.850',
  '1850 €',
  '£900',
  '¥9000',
  '(1,850)',
  '-$5',
  '(USD 50)',
  '12%',
  '3/1/2026',
  '2:30 PM',
])('the cell %s is a value', (cell) => {
  expect(isValue(cell)).toBe(true)
})

it.each(['Rate', 'Top 10', 'Try 2', 'Rate 2', 'CAD', 'Last 30 Days', 'Stop 1', 'Rate (CAD)', '53 ft', '$'])(
  'the name %s is no value',
  (cell) => {
    expect(isValue(cell)).toBe(false)
  },
)
