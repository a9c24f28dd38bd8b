import { expect, it } from 'vitest'
import { counted, percent, wonOf } from './wording.ts'

it('uses the singular and the plural', () => {
  expect([counted(0, 'quote'), counted(1, 'quote'), counted(2, 'quote')]).toEqual([
    '0 quotes',
    '1 quote',
    '2 quotes',
  ])
})

it('never rounds a share to 0% or 100%', () => {
  expect([0, 0.004, 0.005, 0.5, 0.994, 0.996, 1].map(percent)).toEqual([
    '0%',
    'under 1%',
    '1%',
    '50%',
    '99%',
    'over 99%',
    '100%',
  ])
})

it.each([
  [0, 1, 'lost the only decided quote'],
  [1, 1, 'won the only decided quote'],
  [0, 4, 'won none of 4 decided quotes'],
  [2, 2, 'won both decided quotes'],
  [1, 2, 'won 1 of 2 decided quotes'],
  [3, 3, 'won all 3 decided quotes'],
  [4, 5, 'won 4 of 5 decided quotes'],
])('%d of %d', (wins, decided, text) => {
  expect(wonOf(wins, decided)).toBe(text)
})
