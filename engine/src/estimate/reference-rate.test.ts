import { expect, test } from 'vitest'
import { addDay, emptyMarket, logReference } from './reference-rate.ts'

const seen = (...rates: number[]) => rates.map((rate) => ({ lane: 'lane', logRate: Math.log(rate) }))

// Known values from an independent prototype of the same definitions.
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
  expect(addDay(market, 40, seen(2200)).map((log) => Math.exp(log).toFixed(6))).toEqual(['2052.208679'])
  expect(state()).toEqual(['0.000712419', '7.652165200', '2.689207115'])
})

test('the reference of a lane never quoted is the tenant average, and null for a tenant without quotes', () => {
  const market = emptyMarket()
  expect(logReference(market, 'other', 0)).toBeNull()
  addDay(market, 0, seen(2000, 2200))
  expect(Math.exp(logReference(market, 'other', 0) ?? 0)).toBeCloseTo(Math.sqrt(2000 * 2200), 6)
})

test('the reference of a lane first quoted today is its own rate, however different the other lanes are', () => {
  const market = emptyMarket()
  addDay(market, 0, seen(2000))
  const [reference = 0] = addDay(market, 1, [{ lane: 'far', logRate: Math.log(300) }])
  expect(Math.exp(reference)).toBeCloseTo(300, 6)
})
